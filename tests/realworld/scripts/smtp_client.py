"""Sends a letter with smtplib."""

import email.message
import email.utils
import smtplib
import sys

letter = email.message.EmailMessage()
letter["From"], letter["To"], letter["Subject"] = "a@example.org", "b@example.org", "hello"
letter["Date"], letter["Message-Id"] = email.utils.formatdate(), email.utils.make_msgid()
letter.set_content("It happened once.\n")
with smtplib.SMTP("127.0.0.1", int(sys.argv[1])) as connection:
    print(connection.ehlo())
    print(connection.send_message(letter))
print(letter["Message-Id"])
