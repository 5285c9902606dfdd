/* BLAKE3 of one chunk: up to 1,024 bytes, in one call.

   Most that a compare-point hashes is that short, and then making a library's hasher costs more than to hash. Longer data
   goes to the library, which hashes many chunks side by side.

   Source: J. O'Connor, J.-P. Aumasson, S. Neves, Z. Wilcox-O'Hearn, BLAKE3, 2021, sections 2.1 to 2.4. */

#include "blake3.h"

#include <string.h>

enum { CHUNK_START = 1, CHUNK_END = 2, ROOT = 8, BLOCK_BYTES = 64, ROUNDS = 7 };

static const uint32_t INITIAL[8] = {
    0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19,
};

static const uint8_t ORDER[ROUNDS][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8},
    {3, 4, 10, 12, 13, 2, 7, 14, 6, 5, 9, 0, 11, 15, 8, 1}, {10, 7, 12, 9, 14, 3, 13, 15, 4, 0, 11, 2, 5, 8, 1, 6},
    {12, 13, 9, 11, 15, 10, 14, 8, 7, 2, 5, 3, 0, 1, 6, 4}, {9, 14, 11, 5, 8, 12, 15, 1, 13, 3, 0, 10, 2, 6, 4, 7},
    {11, 15, 5, 0, 1, 9, 8, 6, 14, 10, 2, 12, 3, 4, 7, 13},
};

static inline uint32_t
rotate(uint32_t word, int by)
{
    return word >> by | word << (32 - by);
}

static inline void
mix(uint32_t *v, int a, int b, int c, int d, uint32_t x, uint32_t y)
{
    v[a] += v[b] + x;
    v[d] = rotate(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = rotate(v[b] ^ v[c], 12);
    v[a] += v[b] + y;
    v[d] = rotate(v[d] ^ v[a], 8);
    v[c] += v[d];
    v[b] = rotate(v[b] ^ v[c], 7);
}

/* Take one block of a chunk whose number is 0 into its chaining value. */
static void
compress(uint32_t chaining[8], const uint8_t *bytes, uint32_t length, uint32_t flags)
{
    uint32_t m[16] = {0}, v[16];
    memcpy(m, bytes, length);
    memcpy(v, chaining, 32);
    memcpy(v + 8, INITIAL, 16);
    v[12] = v[13] = 0;
    v[14] = length;
    v[15] = flags;
#pragma GCC unroll 7
    for (int round = 0; round < ROUNDS; round++) {
        const uint8_t *at = ORDER[round];
        mix(v, 0, 4, 8, 12, m[at[0]], m[at[1]]);
        mix(v, 1, 5, 9, 13, m[at[2]], m[at[3]]);
        mix(v, 2, 6, 10, 14, m[at[4]], m[at[5]]);
        mix(v, 3, 7, 11, 15, m[at[6]], m[at[7]]);
        mix(v, 0, 5, 10, 15, m[at[8]], m[at[9]]);
        mix(v, 1, 6, 11, 12, m[at[10]], m[at[11]]);
        mix(v, 2, 7, 8, 13, m[at[12]], m[at[13]]);
        mix(v, 3, 4, 9, 14, m[at[14]], m[at[15]]);
    }
    for (int at = 0; at < 8; at++)
        chaining[at] = v[at] ^ v[at + 8];
}

void
hash_chunk(const void *bytes, size_t length, uint8_t digest[DIGEST_BYTES])
{
    const uint8_t *from = bytes;
    uint32_t chaining[8], flags = CHUNK_START;
    memcpy(chaining, INITIAL, sizeof chaining);
    for (; length > BLOCK_BYTES; length -= BLOCK_BYTES, from += BLOCK_BYTES, flags = 0)
        compress(chaining, from, BLOCK_BYTES, flags);
    compress(chaining, from, (uint32_t)length, flags | CHUNK_END | ROOT);
    memcpy(digest, chaining, DIGEST_BYTES);
}
