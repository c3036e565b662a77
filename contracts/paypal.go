package contracts

import "github.com/oncehttp/oncehttp"

func paypal() []oncehttp.Contract {
	return nil
}
