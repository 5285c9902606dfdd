"""A renderer whose settings come from plugins: the first one that knows an attribute answers."""

import random


class Plugin:
    def __init__(self, name, **settings):
        self.name = name
        self.settings = settings

    def __repr__(self):
        return f"<{self.name}>"


class Registry:
    """Plugins by name, those that are switched on as a set of names."""

    def __init__(self):
        self.plugins = {}
        self.active = set()

    def add(self, plugin, active=True):
        self.plugins[plugin.name] = plugin
        if active:
            self.active.add(plugin.name)
        return plugin

    def providers(self, attribute):
        return [name for name in self.active if attribute in self.plugins[name].settings]  # guilty


class Settings:
    """Attributes that no one has set are asked of the plugins, and remembered."""

    def __init__(self, registry):
        self._registry = registry
        self.frames = 24

    def __getattr__(self, attribute):
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        found = self._registry.providers(attribute)
        if not found:
            raise AttributeError(attribute)
        value = self._registry.plugins[found[0]].settings[attribute]
        setattr(self, attribute, value)  # innocent
        return value


class Film:
    def __init__(self, settings, rng):
        self.settings = settings
        self.rng = rng
        self.grain = []

    def shoot(self, scene):
        light = self.rng.uniform(0.2, 0.9)
        if scene == 0:
            self.settings.gamma  # noqa: B018  asked once, so that it is there at night
        if scene < 12:
            return light
        return light ** self.settings.gamma


def build():
    registry = Registry()
    registry.add(Plugin("filmic", gamma=2.4, dust=0.1))
    registry.add(Plugin("noir", gamma=1.7))
    registry.add(Plugin("pastel", gamma=1.1, bloom=0.3))
    registry.add(Plugin("vhs", gamma=2.9, dust=0.5), active=False)
    registry.add(Plugin("archive", gamma=0.8))
    return registry


def main():
    registry = build()
    film = Film(Settings(registry), random.Random(77))
    rain = random.Random(6)  # innocent
    print("plugins", sorted(registry.active), "frames", film.settings.frames)  # innocent
    for scene in range(20):
        value = film.shoot(scene)
        film.grain.append(value)
        print(f"scene {scene:2d} light {value:.5f} rain {rain.random():.3f}")
    print("bloom", film.settings.bloom, "has sound", hasattr(film.settings, "sound"))  # innocent
    print(f"mean {sum(film.grain) / len(film.grain):.6f}")


if __name__ == "__main__":
    main()
