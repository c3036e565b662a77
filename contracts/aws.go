package contracts

import "github.com/oncehttp/oncehttp"

func aws() []oncehttp.Contract {
	return nil
}
