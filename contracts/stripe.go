package contracts

import "github.com/oncehttp/oncehttp"

func stripe() []oncehttp.Contract {
	return nil
}
