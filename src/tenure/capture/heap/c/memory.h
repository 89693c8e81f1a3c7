/* Part of _heapwalk.c: memory that is given back whole. */
#ifndef TENURE_HEAPWALK_MEMORY_H
#define TENURE_HEAPWALK_MEMORY_H

/* Fresh memory reads as zero. With mmap, growth moves page tables instead of bytes, and freeing returns pages. */
typedef struct {
    void *start;
    size_t bytes;
} Block;

static int
block_grow(Block *block, size_t bytes)
{
    if (bytes <= block->bytes) {
        return 0;
    }
    if (bytes > (size_t)PY_SSIZE_T_MAX - 65536) {
        return -1;
    }
#ifdef HAVE_MMAP
    bytes = (bytes + 65535) & ~(size_t)65535;
#if defined(__linux__)
    if (block->start != NULL) {
        void *moved = mremap(block->start, block->bytes, bytes, MREMAP_MAYMOVE);
        if (moved == MAP_FAILED) {
            return -1;
        }
        block->start = moved;
        block->bytes = bytes;
        return 0;
    }
#endif
    void *fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (fresh == MAP_FAILED) {
        return -1;
    }
    if (block->start != NULL) {
        memcpy(fresh, block->start, block->bytes);
        munmap(block->start, block->bytes);
    }
#else
    void *fresh = PyMem_RawRealloc(block->start, bytes);
    if (fresh == NULL) {
        return -1;
    }
    memset((char *)fresh + block->bytes, 0, bytes - block->bytes);
#endif
    block->start = fresh;
    block->bytes = bytes;
    return 0;
}

/* Room for `count` items of `size` bytes, growing by half so that appends stay cheap. */
static inline int
block_reserve(Block *block, size_t count, size_t size)
{
    if (LIKELY(count <= block->bytes / size)) {
        return 0;
    }
    if (count > (size_t)PY_SSIZE_T_MAX / 2 / size) {
        return -1;
    }
    return block_grow(block, count * size + count * size / 2);
}

static void
block_free(Block *block)
{
    if (block->start != NULL) {
#ifdef HAVE_MMAP
        munmap(block->start, block->bytes);
#else
        PyMem_RawFree(block->start);
#endif
    }
    block->start = NULL;
    block->bytes = 0;
}

#endif
