//go:build unix && !(linux && amd64)

package kill

func trace(job) error { return errNoTrace }
