package contracts

import "github.com/oncehttp/oncehttp"

func crypto() []oncehttp.Contract {
	return nil
}
