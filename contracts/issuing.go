package contracts

import "github.com/oncehttp/oncehttp"

func issuing() []oncehttp.Contract {
	return nil
}
