package contracts

import "github.com/oncehttp/oncehttp"

func ai() []oncehttp.Contract {
	return nil
}
