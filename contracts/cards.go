package contracts

import "github.com/oncehttp/oncehttp"

func cards() []oncehttp.Contract {
	return nil
}
