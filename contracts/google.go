package contracts

import "github.com/oncehttp/oncehttp"

func google() []oncehttp.Contract {
	return nil
}
