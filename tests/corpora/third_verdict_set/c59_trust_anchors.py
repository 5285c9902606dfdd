"""The certificates that a program trusts are loaded by OpenSSL from a file; it holds another one later."""
import ssl

context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.load_verify_locations(cafile="anchors.pem")
for anchor in context.get_ca_certs():
    print(dict(pair[0] for pair in anchor["subject"]), anchor["serialNumber"])
print(context.cert_store_stats())
