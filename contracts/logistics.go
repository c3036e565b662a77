package contracts

import "github.com/oncehttp/oncehttp"

func logistics() []oncehttp.Contract {
	return nil
}
