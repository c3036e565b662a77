package contracts

import "github.com/oncehttp/oncehttp"

func commerce() []oncehttp.Contract {
	return nil
}
