package contracts

import "github.com/oncehttp/oncehttp"

func billing() []oncehttp.Contract {
	return nil
}
