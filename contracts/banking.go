package contracts

import "github.com/oncehttp/oncehttp"

func banking() []oncehttp.Contract {
	return nil
}
