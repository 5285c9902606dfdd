#ifndef BLAKE3_H
#define BLAKE3_H

#include <stddef.h>
#include <stdint.h>

#define CHUNK_BYTES 1024
#define DIGEST_BYTES 16 /* as in compare-points: the first half */

/* Digest at most CHUNK_BYTES bytes; words of memory are little-endian. */
void hash_chunk(const void *bytes, size_t length, uint8_t digest[DIGEST_BYTES]);

#endif
