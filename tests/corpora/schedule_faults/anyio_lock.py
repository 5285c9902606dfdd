"""A settings file is written under a lock, and a save that is superseded is cancelled (agronholm/anyio#1145)."""

import asyncio

import anyio


class Settings:
    def __init__(self):
        self.lock = anyio.Lock(fast_acquire=True)
        self.text = ""
        self.saves = 0

    async def save(self, text):
        async with self.lock:
            for _ in range(4):
                await asyncio.sleep(0)  # order: writing
            self.text = text
            self.saves += 1


class Editor:
    def __init__(self, settings):
        self.settings = settings
        self.saving = None

    def changed(self, text):
        if self.saving is not None:
            self.saving.cancel()
        self.saving = asyncio.create_task(self.settings.save(text))

    async def finish(self):
        await asyncio.gather(self.saving, return_exceptions=True)


async def type_text(editor, words):
    for number, word in enumerate(words):
        editor.changed(word)
        for _ in range(2 + 2 * number):
            await asyncio.sleep(0)  # order: typing
    await editor.finish()


async def back_up(settings):
    await settings.save("backup")
    for _ in range(6):
        await asyncio.sleep(0)  # order: backup
    await settings.save("backup")


async def main():
    settings = Settings()
    editor = Editor(settings)
    await asyncio.gather(back_up(settings), type_text(editor, ["one", "two", "three"]))
    assert settings.saves >= 3, settings.saves
