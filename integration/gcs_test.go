package integration

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/storage"
	"github.com/googleapis/gax-go/v2"
	"github.com/stretchr/testify/require"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// gcsUploads declares that writing an object twice is as good as once, which is
// so in a bucket that keeps no old versions. Where it is not so leave it out: a
// lost answer is then Pending.
func gcsUploads() oncehttp.Contract {
	return oncehttp.Contract{
		Name:  "gcs-uploads",
		Match: oncehttp.Match{Hosts: []string{"storage.googleapis.com"}, Path: "/upload/storage/v1", Idempotent: oncehttp.IdempotentYes},
	}
}

// newGCS is the recipe: the client of oncehttp, and the library's own retries
// off. With an http.Client of ours the library brings no credentials: put an
// oauth2.Transport below, as oauth2_test.go does, which serves reads too.
func newGCS(t *testing.T, httpClient *http.Client) *storage.Client {
	t.Helper()
	gcs, err := storage.NewClient(t.Context(), option.WithHTTPClient(httpClient), option.WithoutAuthentication())
	require.NoError(t, err)
	t.Cleanup(func() { gcs.Close() })
	gcs.SetRetry(storage.WithPolicy(storage.RetryNever))
	return gcs
}

// upload writes an object, and names it in its metadata so that a lookup can
// tell it. Below the writer's ChunkSize, 16 MiB, it is one request, if
// Config.MaxRequestBody, 8 MiB, is raised to it; above see gcsSession.
func upload(ctx context.Context, object *storage.ObjectHandle, action string) error {
	w := object.NewWriter(ctx)
	w.Metadata = map[string]string{"upload": mark(action)}
	if _, err := w.Write([]byte("hello")); err != nil {
		return err
	}
	return w.Close()
}

func startGCS(t *testing.T) *mockserver.Server {
	t.Helper()
	return startAPI(t, mockserver.Config{
		Unkeyed: func(*http.Request) bool { return true },
		Execute: func(*http.Request) mockserver.Answer {
			return answer(200, `{"kind":"storage#object","bucket":"b","name":"report","generation":"1","metadata":{"upload":"`+mark("report-9/upload")+`"}}`)
		},
	})
}

func TestAnUploadToGCSIsRepeatedWhenTheAnswerIsLost(t *testing.T) {
	t.Parallel()
	api := startGCS(t)
	client := open(t, api, oncehttp.Config{Contracts: []oncehttp.Contract{gcsUploads()}})
	object := newGCS(t, client.HTTPClient()).Bucket("b").Object("report")
	ctx := oncehttp.WithAction(t.Context(), "report-9/upload")

	api.Script(mockserver.Lost())
	require.NoError(t, upload(ctx, object, "report-9/upload"))
	require.Len(t, api.Requests(), 2, "the object is written twice, with the same bytes")

	// The parts have another boundary in each call, and are compared as parts.
	require.NoError(t, upload(ctx, object, "report-9/upload"))
	require.Len(t, api.Requests(), 2)
}

// With a precondition the repeat is refused, and the refusal says nothing of the
// first attempt: a lookup has to see whose object is there.
func TestALookupFindsTheObjectWhoseAnswerGCSLost(t *testing.T) {
	t.Parallel()
	api := startGCS(t)
	client := open(t, api, oncehttp.Config{
		Contracts: []oncehttp.Contract{gcsUploads()},
		Lookup: func(ctx context.Context, in *oncehttp.Intent) (oncehttp.Finding, error) {
			found, err := newGCS(t, api.Client()).Bucket("b").Object("report").Attrs(ctx)
			switch {
			case errors.Is(err, storage.ErrObjectNotExist):
				return oncehttp.Finding{Kind: oncehttp.NotFound}, nil
			case err != nil:
				return oncehttp.Finding{}, err
			case found.Metadata["upload"] == mark(in.Action()):
				return oncehttp.Finding{Kind: oncehttp.Found, Reference: found.Name}, nil
			}
			return oncehttp.Finding{Kind: oncehttp.NotFound}, nil
		},
	})
	object := newGCS(t, client.HTTPClient()).Bucket("b").Object("report").If(storage.Conditions{DoesNotExist: true})

	api.Script(mockserver.Lost(), refusal(412, `{"error":{"code":412,"message":"At least one of the pre-conditions you specified did not hold.","errors":[{"reason":"conditionNotMet"}]}}`))
	err := upload(oncehttp.WithAction(t.Context(), "report-9/upload"), object, "report-9/upload")
	var settled *oncehttp.NoAnswerError
	require.ErrorAs(t, err, &settled)
	require.Equal(t, oncehttp.Confirmed, settled.Outcome.State)
	require.Equal(t, "report", settled.Outcome.Reference)
	require.Equal(t, 1, api.EffectsTotal())

	// Without a lookup it is Pending.
	bare := open(t, api, oncehttp.Config{Contracts: []oncehttp.Contract{gcsUploads()}})
	object = newGCS(t, bare.HTTPClient()).Bucket("b").Object("report").If(storage.Conditions{DoesNotExist: true})
	api.Script(mockserver.Lost(), refusal(412, `{"error":{"code":412}}`))
	err = upload(oncehttp.WithAction(t.Context(), "report-10/upload"), object, "report-10/upload")
	require.True(t, pendingOf(t, err).MayHaveExecuted)
}

func TestGCSRefusalsKeepTheirType(t *testing.T) {
	t.Parallel()
	api := startGCS(t)
	client := open(t, api, oncehttp.Config{Contracts: []oncehttp.Contract{gcsUploads()}})
	api.Script(refusal(412, `{"error":{"code":412,"message":"At least one of the pre-conditions you specified did not hold.","errors":[{"reason":"conditionNotMet"}]}}`))
	object := newGCS(t, client.HTTPClient()).Bucket("b").Object("report").If(storage.Conditions{DoesNotExist: true})
	err := upload(oncehttp.WithAction(t.Context(), "report-9/upload"), object, "report-9/upload")
	var refused *googleapi.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, http.StatusPreconditionFailed, refused.Code)
	require.Equal(t, "conditionNotMet", refused.Errors[0].Reason)
	outcome, err := client.Outcome(t.Context(), "report-9/upload")
	require.NoError(t, err)
	require.Equal(t, oncehttp.Rejected, outcome.State)
}

// Left on, the library's retries send the same request again, and the name makes
// them one action. It would go on until its context ends: turn them off.
func TestGCSOwnRetriesJoinTheActionThatIsNamed(t *testing.T) {
	t.Parallel()
	api := startGCS(t)
	client := open(t, api, oncehttp.Config{}) // no contract: sent once
	gcs := newGCS(t, client.HTTPClient())
	tries := 0
	gcs.SetRetry(storage.WithPolicy(storage.RetryAlways), storage.WithBackoff(gax.Backoff{Initial: time.Millisecond}),
		storage.WithErrorFunc(func(err error) bool {
			tries++
			return err != nil && tries < 3
		}))
	api.Script(mockserver.Lost().Always())
	err := upload(oncehttp.WithAction(t.Context(), "report-9/upload"), gcs.Bucket("b").Object("report"), "report-9/upload")
	pendingOf(t, err)
	require.Equal(t, 3, tries)
	require.Equal(t, 1, api.EffectsTotal())
	require.Len(t, api.Requests(), 1)
}

func TestGCSHidesAPendingBehindTheEndOfAContext(t *testing.T) {
	t.Parallel()
	api, ctx := startLeft(t)
	client := open(t, api, oncehttp.Config{Contracts: []oncehttp.Contract{gcsUploads()}})
	err := upload(oncehttp.WithAction(ctx, "report-9/upload"), newGCS(t, client.HTTPClient()).Bucket("b").Object("report"), "report-9/upload")
	requireHidden(t, err, client, "report-9/upload")
}

// gcsSession is a Config.PassThrough for uploads above ChunkSize: a session, begun
// by one POST and carried on by one for each chunk, which the library repeats by
// itself. No name fits them all, and a chunk is longer than MaxRequestBody.
func gcsSession(req *http.Request) bool {
	query := req.URL.Query()
	return query.Get("uploadType") == "resumable" || query.Has("upload_id")
}

func TestAnUploadToGCSInChunksIsNoSingleAction(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		passThrough func(*http.Request) bool
		want        error
	}{
		"an action":      {nil, oncehttp.ErrMismatch},
		"passed through": {gcsSession, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := startAPI(t, mockserver.Config{
				Unkeyed: func(*http.Request) bool { return true },
				Execute: func(r *http.Request) mockserver.Answer {
					a := answer(200, `{"bucket":"b","name":"report"}`)
					switch last := strings.HasSuffix(r.Header.Get("Content-Range"), "/300000"); {
					case !r.URL.Query().Has("upload_id"):
						a.Header.Set("Location", "https://storage.googleapis.com/upload/storage/v1/b/b/o?upload_id=1")
					case !last: // a 308, as X-GUploader-No-308 asks for it
						a.Header.Set("X-Http-Status-Code-Override", "308")
						a.Header.Set("Range", "bytes=0-262143")
					}
					return a
				},
			})
			client := open(t, api, oncehttp.Config{Contracts: []oncehttp.Contract{gcsUploads()}, PassThrough: test.passThrough})
			ctx := oncehttp.WithAction(t.Context(), "report-9/upload")
			w := newGCS(t, client.HTTPClient()).Bucket("b").Object("report").NewWriter(ctx)
			w.ChunkSize = 256 << 10
			_, err := w.Write(make([]byte, 300_000))
			err = errors.Join(err, w.Close())
			if test.want != nil {
				require.ErrorIs(t, err, test.want)
				return
			}
			require.NoError(t, err)
			require.Len(t, api.Requests(), 3)
		})
	}
}
