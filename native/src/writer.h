/* What the encoder has written so far, the objects that it holds meanwhile, and values that nothing is inside. */

#ifndef TWICE_WRITER_H
#define TWICE_WRITER_H

#include "twice_fast.h"

#include <stdint.h>
#include <string.h>

#if PY_BIG_ENDIAN
#error "canonical form is little-endian; these files write numbers as they are in memory"
#endif

#define COUNT_MAX 0xFFFFFFFFLL
#define SHAPES 2048
#define DEPTH_MAX 100

typedef struct Shape Shape; /* of dicts with the same keys: dicts.c */

typedef struct {
    PyObject_HEAD
    PyObject *decomposers, *find_decomposer, *decompose_array, *encode_array, *heads, *fall_back, *encode_key;
    PyObject *dtype, *shape; /* names of attributes */
    Shape *shapes[SHAPES];
    char *spare; /* the buffer of the last call */
    Py_ssize_t spare_capacity;
    int depth_max; /* levels of values inside one another that are written here */
} Encoder;

typedef struct {
    Encoder *encoder;
    char *bytes; /* what was written and is in no part yet */
    Py_ssize_t length, capacity;
    PyObject **held; /* strong references to values that are still to be written */
    Py_ssize_t held_count, held_capacity;
    PyObject *open[DEPTH_MAX]; /* the values that the present one lies inside, outermost first */
    PyObject *parts; /* a list, or NULL where one byte string is wanted */
    Py_ssize_t threshold;
} Writer;

/* Write any value; `depth` is how many values it lies inside. */
int put(Writer *w, PyObject *value, int depth);
int put_dict(Writer *w, PyObject *value, int depth);
int put_decomposed(Writer *w, PyObject *value, int depth);
void free_shape(Shape *shape);

static inline int
grow(Writer *w, Py_ssize_t more)
{
    Py_ssize_t capacity = w->capacity ? w->capacity : 4096;
    while (capacity - w->length < more) {
        if (capacity > PY_SSIZE_T_MAX / 2) {
            PyErr_NoMemory();
            return -1;
        }
        capacity *= 2;
    }
    char *bytes = PyMem_RawRealloc(w->bytes, (size_t)capacity);
    if (bytes == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    w->bytes = bytes;
    w->capacity = capacity;
    return 0;
}

static inline int
reserve(Writer *w, Py_ssize_t more)
{
    return w->capacity - w->length < more ? grow(w, more) : 0;
}

static inline int
reserve_held(Writer *w, Py_ssize_t more)
{
    if (w->held_capacity - w->held_count >= more)
        return 0;
    Py_ssize_t capacity = 2 * (w->held_count + more);
    PyObject **held = PyMem_RawRealloc(w->held, (size_t)capacity * sizeof *held);
    if (held == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    w->held = held;
    w->held_capacity = capacity;
    return 0;
}

/* Hold objects; there is room. */
static inline void
hold(Writer *w, PyObject **objects, Py_ssize_t count)
{
    for (Py_ssize_t at = 0; at < count; at++) {
        Py_INCREF(objects[at]);
        w->held[w->held_count++] = objects[at];
    }
}

static inline void
release_held(Writer *w, Py_ssize_t until)
{
    while (w->held_count > until) {
        PyObject *last = w->held[--w->held_count];
        Py_DECREF(last);
    }
}

static inline int
fall_back(Writer *w)
{
    PyErr_SetNone(w->encoder->fall_back);
    return -1;
}

/* -- bytes */

static inline int
put_raw(Writer *w, const char *bytes, Py_ssize_t length)
{
    if (reserve(w, length) < 0)
        return -1;
    memcpy(w->bytes + w->length, bytes, (size_t)length);
    w->length += length;
    return 0;
}

static inline int
put_number(Writer *w, char tag, const void *eight)
{
    if (reserve(w, 9) < 0)
        return -1;
    w->bytes[w->length] = tag;
    memcpy(w->bytes + w->length + 1, eight, 8);
    w->length += 9;
    return 0;
}

static inline int
put_count(Writer *w, char tag, Py_ssize_t count)
{
    if (count > COUNT_MAX)
        return fall_back(w);
    if (reserve(w, 5) < 0)
        return -1;
    uint32_t number = (uint32_t)count;
    w->bytes[w->length] = tag;
    memcpy(w->bytes + w->length + 1, &number, 4);
    w->length += 5;
    return 0;
}

static inline int
flush(Writer *w)
{
    if (w->length == 0)
        return 0;
    PyObject *part = PyBytes_FromStringAndSize(w->bytes, w->length);
    if (part == NULL)
        return -1;
    w->length = 0;
    int result = PyList_Append(w->parts, part);
    Py_DECREF(part);
    return result;
}

/* A large buffer becomes a part of its own, which is not copied. */
static inline int
put_buffer(Writer *w, PyObject *value)
{
    Py_buffer view;
    if (PyObject_GetBuffer(value, &view, PyBUF_C_CONTIGUOUS) < 0)
        return -1;
    int result;
    if (w->parts == NULL || view.len < w->threshold || view.len == 0) {
        result = put_raw(w, view.buf, view.len);
        PyBuffer_Release(&view);
        return result;
    }
    PyBuffer_Release(&view);
    if (flush(w) < 0)
        return -1;
    PyObject *part = PyMemoryView_FromObject(value);
    if (part == NULL)
        return -1;
    result = PyList_Append(w->parts, part);
    Py_DECREF(part);
    return result;
}

/* -- leaves */

static inline double
one_nan(double number)
{
    static const uint64_t quiet = 0x7FF8000000000000ULL;
    if (number != number)
        memcpy(&number, &quiet, 8);
    return number;
}

static inline int
put_text(Writer *w, PyObject *text)
{
    if (PyUnicode_IS_COMPACT_ASCII(text)) {
        Py_ssize_t length = PyUnicode_GET_LENGTH(text);
        if (put_count(w, 's', length) < 0)
            return -1;
        return put_raw(w, PyUnicode_DATA(text), length);
    }
    /* Not PyUnicode_AsUTF8: the text would keep its UTF-8 form for as long as it lives. */
    PyObject *form = PyUnicode_AsUTF8String(text);
    if (form == NULL)
        return -1;
    int result = put_count(w, 's', PyBytes_GET_SIZE(form));
    if (result == 0)
        result = put_raw(w, PyBytes_AS_STRING(form), PyBytes_GET_SIZE(form));
    Py_DECREF(form);
    return result;
}

static inline int
put_large_bytes(Writer *w, PyObject *value)
{
    uint64_t size = (uint64_t)PyBytes_GET_SIZE(value);
    if (put_number(w, 'b', &size) < 0)
        return -1;
    return put_buffer(w, value);
}

/* Write a value that nothing is inside, without running any Python code; 0 where it is none that can be. */
static inline int
put_leaf(Writer *w, PyObject *value)
{
    PyTypeObject *cls = Py_TYPE(value);
    int result;
    if (cls == &PyFloat_Type) {
        double number = one_nan(PyFloat_AS_DOUBLE(value));
        result = put_number(w, 'f', &number);
    }
    else if (cls == &PyLong_Type) {
        int overflow;
        long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
        if (overflow)
            return 0;
        result = put_number(w, 'i', &number);
    }
    else if (cls == &PyUnicode_Type)
        result = put_text(w, value);
    else if (value == Py_None)
        result = put_raw(w, "N", 1);
    else if (cls == &PyBool_Type)
        result = put_raw(w, value == Py_True ? "T" : "F", 1);
    else if (cls == &PyBytes_Type && (w->parts == NULL || PyBytes_GET_SIZE(value) < w->threshold)) {
        uint64_t size = (uint64_t)PyBytes_GET_SIZE(value);
        result = put_number(w, 'b', &size);
        if (result == 0)
            result = put_raw(w, PyBytes_AS_STRING(value), PyBytes_GET_SIZE(value));
    }
    else
        return 0;
    return result < 0 ? -1 : 1;
}

#endif
