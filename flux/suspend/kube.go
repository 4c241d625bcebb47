package suspend

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// manager is the name under which the API server keeps what is ours of an object. Flux takes back what a manager whose name begins with
// "kubectl" did.
const manager = "sluice"

// maxAnswer bounds what is read of one answer: an object of Kubernetes has at most 1.5 MiB in its store.
const maxAnswer = 4 << 20

var kustomizations = schema.GroupVersionResource{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Resource: "kustomizations"}

// InCluster is how to reach the API server: of the cluster in which this runs, else the one that KUBECONFIG names.
func InCluster() (*rest.Config, error) {
	c, err := rest.InClusterConfig()
	if !errors.Is(err, rest.ErrNotInCluster) {
		return c, err
	}
	files := os.Getenv(clientcmd.RecommendedConfigPathEnvVar)
	if files == "" {
		return nil, errors.New("this is not a pod of a cluster, and KUBECONFIG is not set")
	}
	c, err = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("KUBECONFIG %s: %w", files, err)
	}
	return c, nil
}

// Kube is a cluster's API server.
type Kube struct{ client dynamic.Interface }

// Dial prepares to speak to an API server; nothing is sent yet.
func Dial(config *rest.Config) (*Kube, error) {
	c := rest.CopyConfig(config)
	c.UserAgent, c.QPS, c.WarningHandler = manager, -1, rest.NoWarnings{} // a pass is its own pace
	c.Wrap(func(next http.RoundTripper) http.RoundTripper { return dateKeeper{next} })
	client, err := dynamic.NewForConfig(c)
	if err != nil {
		return nil, fmt.Errorf("the API server: %w", err)
	}
	return &Kube{client}, nil
}

var (
	errRedirected = errors.New("the API server redirected; not followed")
	errOther      = errors.New("the API server returned another object")
)

// dateKey is the context's key of where the Date of an answer goes.
type dateKey struct{}

// dateKeeper keeps the Date of each answer for whoever asked, and bounds its body. It follows no redirection: the token would go there, too.
type dateKeeper struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (d dateKeeper) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := d.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode/100 == 3 {
		_ = answer.Body.Close() // it is not read
		return nil, errRedirected
	}
	if date, ok := r.Context().Value(dateKey{}).(*time.Time); ok {
		*date, _ = http.ParseTime(answer.Header.Get("Date")) // zero: not known
	}
	answer.Body = http.MaxBytesReader(nil, answer.Body, maxAnswer)
	return answer, nil
}

// Suspended implements API.
func (k *Kube) Suspended(ctx context.Context, t Target) (bool, time.Time, error) {
	var date time.Time
	got, err := k.client.Resource(kustomizations).Namespace(t.Namespace).Get(context.WithValue(ctx, dateKey{}, &date), t.Name, metav1.GetOptions{})
	if err != nil {
		return false, date, err
	}
	if got.GetKind() != "Kustomization" || got.GetName() != t.Name {
		return false, date, errOther
	}
	suspended, _, err := unstructured.NestedBool(got.Object, "spec", "suspend")
	return suspended, date, err
}

// Suspend implements API. A merge patch of the one field: what others write meanwhile stays.
func (k *Kube) Suspend(ctx context.Context, t Target, suspend bool) error {
	patch := fmt.Appendf(nil, `{"spec":{"suspend":%t}}`, suspend)
	_, err := k.client.Resource(kustomizations).Namespace(t.Namespace).
		Patch(ctx, t.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager})
	return err
}
