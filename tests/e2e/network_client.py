"""A client inside of a run with --network model. Each argument is a thing to do; what came of it is printed, a line each.

get URL         as most clients do it: past the proxy to the loopback, and through it elsewhere
tunnel HOST:PORT  CONNECT, and then GET /
plain URL       a request for that URL to the proxy
past HOST:PORT  a connection without the proxy
raw TEXT        those bytes to the proxy
"""
import os
import socket
import sys
import urllib.error
import urllib.parse
import urllib.request


def proxy():
    url = urllib.parse.urlsplit(os.environ["HTTPS_PROXY"])
    return socket.create_connection((url.hostname, url.port), 10)


def ask(connection, text):
    connection.sendall(text.encode("latin-1"))
    answer = b""
    while True:
        piece = connection.recv(65536)
        if not piece:
            return answer.decode("latin-1")
        answer += piece


def get(url):
    try:
        return urllib.request.urlopen(url, timeout=20).read().decode()
    except urllib.error.HTTPError as error:
        return str(error.code)


def tunnel(to):
    connection = proxy()
    connection.sendall(f"CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n".encode())
    first = connection.recv(4096).decode().split(" ")[1]
    if first != "200":
        return first
    return ask(connection, "GET / HTTP/1.0\r\n\r\n").rpartition("\r\n\r\n")[2]


def plain(url):
    answer = ask(proxy(), f"GET {url} HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n")
    code = answer.split(" ")[1]
    return answer.rpartition("\r\n\r\n")[2] if code == "200" else code


def past(to):
    host, _, port = to.rpartition(":")
    socket.create_connection((host, int(port)), 3)
    return "reached"


def raw(text):
    return ask(proxy(), text.encode().decode("unicode_escape")).split(" ")[1]


for word, value in zip(sys.argv[1::2], sys.argv[2::2]):
    try:
        print(f"{word} {value}: {globals()[word](value).strip()}", flush=True)
    except OSError as error:
        print(f"{word} {value}: no ({type(error).__name__})", flush=True)
