"""Pools, read without attnviz's own code."""


def read(made):
    parts = []

    def put(data):
        if isinstance(data, list):
            return [put(each) for each in data]
        if isinstance(data, dict):
            return parts[data["$"]] if "$" in data else {name: put(each) for name, each in data.items()}
        return data

    for part in made["parts"]:
        parts.append(put(part))
    return put(made["whole"])
