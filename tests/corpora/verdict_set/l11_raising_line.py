"""Raises the same exception from one of 160 lines, which the priority of the process chooses: C code asks for it."""
import ctypes

libc = ctypes.CDLL(None)


def fall(line):
    if line == 0:
        raise ValueError("fell")
    elif line == 1:
        raise ValueError("fell")
    elif line == 2:
        raise ValueError("fell")
    elif line == 3:
        raise ValueError("fell")
    elif line == 4:
        raise ValueError("fell")
    elif line == 5:
        raise ValueError("fell")
    elif line == 6:
        raise ValueError("fell")
    elif line == 7:
        raise ValueError("fell")
    elif line == 8:
        raise ValueError("fell")
    elif line == 9:
        raise ValueError("fell")
    elif line == 10:
        raise ValueError("fell")
    elif line == 11:
        raise ValueError("fell")
    elif line == 12:
        raise ValueError("fell")
    elif line == 13:
        raise ValueError("fell")
    elif line == 14:
        raise ValueError("fell")
    elif line == 15:
        raise ValueError("fell")
    elif line == 16:
        raise ValueError("fell")
    elif line == 17:
        raise ValueError("fell")
    elif line == 18:
        raise ValueError("fell")
    elif line == 19:
        raise ValueError("fell")
    elif line == 20:
        raise ValueError("fell")
    elif line == 21:
        raise ValueError("fell")
    elif line == 22:
        raise ValueError("fell")
    elif line == 23:
        raise ValueError("fell")
    elif line == 24:
        raise ValueError("fell")
    elif line == 25:
        raise ValueError("fell")
    elif line == 26:
        raise ValueError("fell")
    elif line == 27:
        raise ValueError("fell")
    elif line == 28:
        raise ValueError("fell")
    elif line == 29:
        raise ValueError("fell")
    elif line == 30:
        raise ValueError("fell")
    elif line == 31:
        raise ValueError("fell")
    elif line == 32:
        raise ValueError("fell")
    elif line == 33:
        raise ValueError("fell")
    elif line == 34:
        raise ValueError("fell")
    elif line == 35:
        raise ValueError("fell")
    elif line == 36:
        raise ValueError("fell")
    elif line == 37:
        raise ValueError("fell")
    elif line == 38:
        raise ValueError("fell")
    elif line == 39:
        raise ValueError("fell")
    elif line == 40:
        raise ValueError("fell")
    elif line == 41:
        raise ValueError("fell")
    elif line == 42:
        raise ValueError("fell")
    elif line == 43:
        raise ValueError("fell")
    elif line == 44:
        raise ValueError("fell")
    elif line == 45:
        raise ValueError("fell")
    elif line == 46:
        raise ValueError("fell")
    elif line == 47:
        raise ValueError("fell")
    elif line == 48:
        raise ValueError("fell")
    elif line == 49:
        raise ValueError("fell")
    elif line == 50:
        raise ValueError("fell")
    elif line == 51:
        raise ValueError("fell")
    elif line == 52:
        raise ValueError("fell")
    elif line == 53:
        raise ValueError("fell")
    elif line == 54:
        raise ValueError("fell")
    elif line == 55:
        raise ValueError("fell")
    elif line == 56:
        raise ValueError("fell")
    elif line == 57:
        raise ValueError("fell")
    elif line == 58:
        raise ValueError("fell")
    elif line == 59:
        raise ValueError("fell")
    elif line == 60:
        raise ValueError("fell")
    elif line == 61:
        raise ValueError("fell")
    elif line == 62:
        raise ValueError("fell")
    elif line == 63:
        raise ValueError("fell")
    elif line == 64:
        raise ValueError("fell")
    elif line == 65:
        raise ValueError("fell")
    elif line == 66:
        raise ValueError("fell")
    elif line == 67:
        raise ValueError("fell")
    elif line == 68:
        raise ValueError("fell")
    elif line == 69:
        raise ValueError("fell")
    elif line == 70:
        raise ValueError("fell")
    elif line == 71:
        raise ValueError("fell")
    elif line == 72:
        raise ValueError("fell")
    elif line == 73:
        raise ValueError("fell")
    elif line == 74:
        raise ValueError("fell")
    elif line == 75:
        raise ValueError("fell")
    elif line == 76:
        raise ValueError("fell")
    elif line == 77:
        raise ValueError("fell")
    elif line == 78:
        raise ValueError("fell")
    elif line == 79:
        raise ValueError("fell")
    elif line == 80:
        raise ValueError("fell")
    elif line == 81:
        raise ValueError("fell")
    elif line == 82:
        raise ValueError("fell")
    elif line == 83:
        raise ValueError("fell")
    elif line == 84:
        raise ValueError("fell")
    elif line == 85:
        raise ValueError("fell")
    elif line == 86:
        raise ValueError("fell")
    elif line == 87:
        raise ValueError("fell")
    elif line == 88:
        raise ValueError("fell")
    elif line == 89:
        raise ValueError("fell")
    elif line == 90:
        raise ValueError("fell")
    elif line == 91:
        raise ValueError("fell")
    elif line == 92:
        raise ValueError("fell")
    elif line == 93:
        raise ValueError("fell")
    elif line == 94:
        raise ValueError("fell")
    elif line == 95:
        raise ValueError("fell")
    elif line == 96:
        raise ValueError("fell")
    elif line == 97:
        raise ValueError("fell")
    elif line == 98:
        raise ValueError("fell")
    elif line == 99:
        raise ValueError("fell")
    elif line == 100:
        raise ValueError("fell")
    elif line == 101:
        raise ValueError("fell")
    elif line == 102:
        raise ValueError("fell")
    elif line == 103:
        raise ValueError("fell")
    elif line == 104:
        raise ValueError("fell")
    elif line == 105:
        raise ValueError("fell")
    elif line == 106:
        raise ValueError("fell")
    elif line == 107:
        raise ValueError("fell")
    elif line == 108:
        raise ValueError("fell")
    elif line == 109:
        raise ValueError("fell")
    elif line == 110:
        raise ValueError("fell")
    elif line == 111:
        raise ValueError("fell")
    elif line == 112:
        raise ValueError("fell")
    elif line == 113:
        raise ValueError("fell")
    elif line == 114:
        raise ValueError("fell")
    elif line == 115:
        raise ValueError("fell")
    elif line == 116:
        raise ValueError("fell")
    elif line == 117:
        raise ValueError("fell")
    elif line == 118:
        raise ValueError("fell")
    elif line == 119:
        raise ValueError("fell")
    elif line == 120:
        raise ValueError("fell")
    elif line == 121:
        raise ValueError("fell")
    elif line == 122:
        raise ValueError("fell")
    elif line == 123:
        raise ValueError("fell")
    elif line == 124:
        raise ValueError("fell")
    elif line == 125:
        raise ValueError("fell")
    elif line == 126:
        raise ValueError("fell")
    elif line == 127:
        raise ValueError("fell")
    elif line == 128:
        raise ValueError("fell")
    elif line == 129:
        raise ValueError("fell")
    elif line == 130:
        raise ValueError("fell")
    elif line == 131:
        raise ValueError("fell")
    elif line == 132:
        raise ValueError("fell")
    elif line == 133:
        raise ValueError("fell")
    elif line == 134:
        raise ValueError("fell")
    elif line == 135:
        raise ValueError("fell")
    elif line == 136:
        raise ValueError("fell")
    elif line == 137:
        raise ValueError("fell")
    elif line == 138:
        raise ValueError("fell")
    elif line == 139:
        raise ValueError("fell")
    elif line == 140:
        raise ValueError("fell")
    elif line == 141:
        raise ValueError("fell")
    elif line == 142:
        raise ValueError("fell")
    elif line == 143:
        raise ValueError("fell")
    elif line == 144:
        raise ValueError("fell")
    elif line == 145:
        raise ValueError("fell")
    elif line == 146:
        raise ValueError("fell")
    elif line == 147:
        raise ValueError("fell")
    elif line == 148:
        raise ValueError("fell")
    elif line == 149:
        raise ValueError("fell")
    elif line == 150:
        raise ValueError("fell")
    elif line == 151:
        raise ValueError("fell")
    elif line == 152:
        raise ValueError("fell")
    elif line == 153:
        raise ValueError("fell")
    elif line == 154:
        raise ValueError("fell")
    elif line == 155:
        raise ValueError("fell")
    elif line == 156:
        raise ValueError("fell")
    elif line == 157:
        raise ValueError("fell")
    elif line == 158:
        raise ValueError("fell")
    elif line == 159:
        raise ValueError("fell")


def main(run):
    state = run.track("state", {"steps": 0})
    for tick in run.ticks(3):
        state["steps"] += 1
    fall(libc.getpriority(0, 0) + 20)
