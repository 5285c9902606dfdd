"""A pipeline, a transaction that watches a key, a script, and messages of a channel."""

import sys

import redis

with redis.Redis(port=int(sys.argv[1]), decode_responses=True) as client:
    with client.pipeline() as pipe:
        print(pipe.set("a", 1).incr("a").rpush("list", "x", "y").lrange("list", 0, -1).execute())
    client.transaction(lambda pipe: (pipe.multi(), pipe.set("a", 5)), "a")
    print(client.get("a"), client.eval("return redis.call('incrby', KEYS[1], 7)", 1, "a"))
    print(client.time()[0] > 0, client.acl_genpass()[:8], client.ttl("a"))
    with client.pubsub() as channel:
        channel.subscribe("news")
        client.publish("news", client.acl_genpass())
        while (message := channel.get_message(timeout=5)) is None or message["type"] != "message":
            print("not yet", message and message["type"])
        print(message["data"])
