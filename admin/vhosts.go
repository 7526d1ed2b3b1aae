package admin

import (
	"net/http"

	"github.com/warrenmq/warren/admin/api"
	"github.com/warrenmq/warren/queue"
)

func (a *API) apiVHost(v *queue.VHostStats) api.VHost {
	queueType := v.DefaultQueueType
	if queueType == "" {
		queueType = "classic"
	}
	n := summaryCounts(&v.Summary)
	speed := a.rates.of(objectKey{kind: 'v', name: v.Name}, &n)
	object := api.VHost{
		Name: v.Name, Description: v.Description, Tags: userTags(v.Tags), DefaultQueueType: queueType,
		Tracing: v.Tracing, ProtectedFromDeletion: v.Protected,
		ClusterState: map[string]string{a.o.NodeName: "running"},
		Metadata:     api.VHostMetadata{Description: v.Description, Tags: userTags(v.Tags), DefaultQueueType: queueType},
		Messages:     n[cReady] + n[cUnacked], MessagesReady: n[cReady], MessagesUnacked: n[cUnacked],
		MessageStats: messageStats(&n, &speed),
	}
	object.MessagesDetails.Rate = speed[cReady] + speed[cUnacked]
	object.MessagesReadyDetails.Rate, object.MessagesUnackedDetails.Rate = speed[cReady], speed[cUnacked]
	return object
}

func (a *API) vhosts(w http.ResponseWriter, r *request) error {
	s, err := a.scope(r)
	if err != nil {
		return err
	}
	a.sample()
	list := []api.VHost{}
	for _, v := range a.o.Broker.VHosts() {
		if s.covers(v.Name) {
			list = append(list, a.apiVHost(&v))
		}
	}
	return writeList(w, r, list, func(v *api.VHost) string { return v.Name })
}

func (a *API) vhost(w http.ResponseWriter, r *request) error {
	s, err := a.scope(r)
	if err != nil {
		return err
	}
	a.sample()
	v, ok := a.o.Broker.VHost(s.vhost)
	if !ok {
		return errNotFound
	}
	object := a.apiVHost(&v)
	return writeObject(w, r, &object)
}

// putVHost makes a vhost or changes its description. What the body does not say of an existing one stays.
func (a *API) putVHost(w http.ResponseWriter, r *request) error {
	name := r.param("vhost")
	v := queue.VHostRecord{Name: name}
	if old, ok := a.o.Broker.VHost(name); ok {
		v = *old.VHostRecord
	}
	var body struct {
		Description      *string   `json:"description"`
		Tags             *nameList `json:"tags"`
		DefaultQueueType *string   `json:"default_queue_type"`
		Tracing          *flag     `json:"tracing"`
		Protected        *flag     `json:"protected_from_deletion"`
	}
	if err := readBody(r, &body); err != nil {
		return err
	}
	setIf(&v.Description, body.Description)
	setIf(&v.Tags, (*[]string)(body.Tags))
	setIf(&v.DefaultQueueType, body.DefaultQueueType)
	setIf(&v.Tracing, (*bool)(body.Tracing))
	setIf(&v.Protected, (*bool)(body.Protected))
	created, err := a.o.Broker.PutVHost(v)
	return stored(w, created, err)
}

func (a *API) deleteVHost(w http.ResponseWriter, r *request) error {
	name := r.param("vhost")
	if _, ok := a.o.Broker.VHost(name); !ok {
		return errNotFound
	}
	if err := a.o.Broker.DeleteVHost(name); err != nil {
		return err
	}
	a.closeConnections(vhostDeleted(name), func(c *api.Connection) bool { return c.VHost == name })
	return deleted(w)
}
