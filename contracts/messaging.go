package contracts

import "github.com/oncehttp/oncehttp"

func messaging() []oncehttp.Contract {
	return nil
}
