package contracts

import "github.com/oncehttp/oncehttp"

func work() []oncehttp.Contract {
	return nil
}
