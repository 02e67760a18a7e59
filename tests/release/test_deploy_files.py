"""The files of deploy/ for containers: they are YAML, and each name in one stands for something in another."""

import re

from needs import needed
from page import ROOT

from attnviz.classroom.room_entry import rooms_at

DEPLOY = ROOT / "deploy"


def documents(name):
    return list(needed("yaml").safe_load_all((DEPLOY / name).read_text("utf-8")))


def upstreams(text):
    return re.findall(r"^server ([\w.-]+):(\d+) ", text, re.MULTILINE)


def rooms_of(url):
    """The host and port of a Redis; the app takes its address."""
    needed("redis")
    assert type(rooms_at(url)).__name__ == "SharedRooms"
    return re.fullmatch(r"redis://([\w-]+):(\d+)", url).groups()


def port_of_image():
    return re.search(r"^EXPOSE (\d+)", (DEPLOY / "Dockerfile").read_text("utf-8"), re.MULTILINE)[1]


def test_compose_is_consistent():
    (found,) = documents("compose.yaml")
    services = found["services"]
    processes = [name for name, each in services.items() if each.get("image") == "attnviz"]
    (listed,) = services["nginx"]["configs"]
    behind = upstreams(found["configs"][listed["source"]]["content"])
    assert behind == [(name, port_of_image()) for name in processes] == [("first", "8501"), ("second", "8501")]
    assert listed["target"] == "/etc/nginx/attnviz-processes.conf"
    hosts = {rooms_of(services[name]["environment"]["ATTNVIZ_ROOMS"]) for name in processes}
    ((redis, port),) = hosts
    assert (services[redis]["command"][0], port) == ("redis-server", "6379")
    assert set(services["nginx"]["depends_on"]) == set(processes)
    for each in services.values():
        assert set(each["networks"]) <= found["networks"].keys()
    assert all("inside" in services[name]["networks"] for name in (*processes, redis, "nginx"))
    for volume in services["nginx"]["volumes"]:
        assert (DEPLOY / volume.split(":")[0]).is_file(), volume


def test_kubernetes_is_consistent():
    found = {(each["kind"], each["metadata"]["name"]): each for each in documents("kubernetes.yaml")}
    processes = found.pop(("ConfigMap", "attnviz-processes"))["data"]["attnviz-processes.conf"]
    found = {name: each["spec"] for name, each in found.items()}
    (replicas,) = (each for (kind, _), each in found.items() if kind == "StatefulSet")
    name = replicas["serviceName"]
    hosts = [f"{name}-{n}.{name}.default.svc.cluster.local" for n in range(replicas["replicas"])]
    (container,) = replicas["template"]["spec"]["containers"]
    port = str(container["ports"][0]["containerPort"])
    assert upstreams(processes) == [(host, port) for host in hosts]
    assert port == port_of_image()
    assert found["Service", name]["clusterIP"] == "None", "each replica has a name of its own"
    environment = {each["name"]: each["value"] for each in container["env"]}
    redis, redis_port = rooms_of(environment["ATTNVIZ_ROOMS"])
    assert found["Service", redis]["ports"] == [{"port": int(redis_port)}]
    for (kind, _), spec in found.items():
        if kind == "Service":
            chosen = [
                each for each in found.values() if each.get("selector", {}).get("matchLabels") == spec["selector"]
            ]
            assert len(chosen) == 1, "a service leads to one set"
            (served,) = chosen[0]["template"]["spec"]["containers"]
            ports = {each["containerPort"] for each in served["ports"]}
            assert {each.get("targetPort", each["port"]) for each in spec["ports"]} <= ports
        else:
            assert spec["template"]["metadata"]["labels"] == spec["selector"]["matchLabels"]
