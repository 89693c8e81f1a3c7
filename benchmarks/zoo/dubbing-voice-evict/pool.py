from timing import timed
from voices import load_voice


class VoicePool:
    """Voices of the roles in the scene that is being dubbed; the rest is evicted."""

    def __init__(self, load=load_voice, timer=timed):
        self.load, self.timer = load, timer
        self.voices = {}
        self.speakers = {}

    def enter(self, role):
        voice = self.load(role)
        self.voices[role] = voice
        self.speakers[role] = self.timer(f"{role}.speak")(voice.speak)

    def evict(self, role):
        del self.speakers[role]
        del self.voices[role]

    def scene(self, roles):
        for role in list(self.voices):
            if role not in roles:
                self.evict(role)
        for role in roles:
            if role not in self.voices:
                self.enter(role)

    def say(self, role, phonemes):
        return self.speakers[role](phonemes)
