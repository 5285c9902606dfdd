"""Counts and queues in Redis through redis-py."""

import sys
import time

import redis

client = redis.Redis(port=int(sys.argv[1]), decode_responses=True)
client.set("started", time.time())
for _ in range(3):
    print(client.incr("visits"), client.get("started"))
with client.pipeline() as pipeline:
    pipeline.rpush("queue", "a", "b", "c").lrange("queue", 0, -1).time()
    print(pipeline.execute())
print(client.info("server")["run_id"], client.lpop("queue"), client.hgetall("nothing"))
client.close()
