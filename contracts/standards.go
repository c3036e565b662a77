package contracts

import "github.com/oncehttp/oncehttp"

func standards() []oncehttp.Contract {
	return nil
}
