"""Pages of a list, behind a token that expires: the flow of authentication asks for another one."""

import sys

import httpx


class Token(httpx.Auth):
    requires_response_body = True

    def __init__(self):
        self.token = None

    def auth_flow(self, request):
        for _ in range(3):
            if self.token is None:
                answer = yield httpx.Request(
                    "POST", request.url.copy_with(path="/token", query=None)
                )
                self.token = answer.json()["id"]
            request.headers["X-Session"] = self.token
            answer = yield request
            if answer.status_code != 401:
                return
            self.token = None


with httpx.Client(base_url=f"http://127.0.0.1:{sys.argv[1]}", auth=Token()) as client:
    page, total = 0, 0
    while page is not None:
        answer = client.get("/page", params={"n": page})
        body = answer.json()
        total += len(body["items"])
        print(page, answer.status_code, body["items"])
        page = body["next"]
    print(total, len(client.cookies))
