module github.com/oncehttp/oncehttp/torture

go 1.25.0

replace github.com/oncehttp/oncehttp => ../

require github.com/oncehttp/oncehttp v0.0.0

require (
	github.com/cenkalti/backoff/v4 v4.3.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	go.etcd.io/bbolt v1.5.0 // indirect
	golang.org/x/sys v0.45.0 // indirect
)
