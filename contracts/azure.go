package contracts

import "github.com/oncehttp/oncehttp"

func azure() []oncehttp.Contract {
	return nil
}
