/* Dicts in canonical form: keys first, in their order, then the values.

   Most dicts of a state have keys that came before: their form and order are kept for each set of keys (a shape).

   Invariant: keys and values are held before anything is allocated or written that may run Python code. */

#include "writer.h"

#include <stdlib.h>

#define SHAPE_KEYS_MAX 64

/* The keys of a dict in the order in which they were put in: their canonical form, and the order of the values. */
struct Shape {
    Py_hash_t hash;
    Py_ssize_t count;
    PyObject *keys[SHAPE_KEYS_MAX];
    unsigned char order[SHAPE_KEYS_MAX];
    Py_ssize_t length;
    char form[];
};

void
free_shape(Shape *shape)
{
    for (Py_ssize_t at = 0; at < shape->count; at++)
        Py_DECREF(shape->keys[at]);
    PyMem_RawFree(shape);
}

static Py_hash_t
hash_keys(PyObject **keys, Py_ssize_t count)
{
    Py_uhash_t hash = (Py_uhash_t)count;
    for (Py_ssize_t at = 0; at < count; at++)
        hash = hash * 1000003u ^ (Py_uhash_t)((PyASCIIObject *)keys[at])->hash; /* known: it is in a dict */
    return (Py_hash_t)hash;
}

static int
has_keys(const Shape *shape, Py_hash_t hash, PyObject **keys, Py_ssize_t count)
{
    if (shape->hash != hash || shape->count != count)
        return 0;
    for (Py_ssize_t at = 0; at < count; at++)
        if (shape->keys[at] != keys[at] && PyUnicode_Compare(shape->keys[at], keys[at]) != 0)
            return 0;
    return 1;
}

/* Return the shape of these keys, which is valid until Python code runs; NULL with an error.

   Keys and values of a new shape stay held, for which there is room. */
static Shape *
find_shape(Writer *w, PyObject **keys, PyObject **values, Py_ssize_t count)
{
    Encoder *encoder = w->encoder;
    Py_hash_t hash = hash_keys(keys, count);
    Shape **place = &encoder->shapes[(Py_uhash_t)hash % SHAPES];
    if (*place != NULL && has_keys(*place, hash, keys, count))
        return *place;
    /* Held first: a list allocates, and a collection may run finalisers that change the dict. */
    Py_ssize_t begin = w->length, base = w->held_count;
    hold(w, keys, count);
    hold(w, values, count);
    PyObject *sorted = PyList_New(count);
    if (sorted == NULL) {
        release_held(w, base);
        return NULL;
    }
    for (Py_ssize_t at = 0; at < count; at++) {
        Py_INCREF(keys[at]);
        PyList_SET_ITEM(sorted, at, keys[at]);
    }
    Shape *shape = NULL;
    int result = PyList_Sort(sorted);
    for (Py_ssize_t at = 0; at < count && result == 0; at++)
        result = put_text(w, PyList_GET_ITEM(sorted, at));
    if (result == 0) {
        shape = PyMem_RawMalloc(sizeof *shape + (size_t)(w->length - begin));
        if (shape == NULL)
            PyErr_NoMemory();
    }
    if (shape != NULL) {
        shape->hash = hash;
        shape->count = count;
        shape->length = w->length - begin;
        memcpy(shape->form, w->bytes + begin, (size_t)shape->length);
        for (Py_ssize_t at = 0; at < count; at++) {
            PyObject *key = PyList_GET_ITEM(sorted, at);
            Py_ssize_t from = 0;
            while (keys[from] != key)
                from++;
            shape->order[at] = (unsigned char)from;
            Py_INCREF(keys[at]);
            shape->keys[at] = keys[at];
        }
    }
    w->length = begin;
    Py_DECREF(sorted);
    if (shape == NULL) {
        release_held(w, base);
        return NULL;
    }
    Shape *old = *place;
    *place = shape;
    if (old != NULL)
        free_shape(old); /* texts: no Python code runs */
    return shape;
}

/* Write the held values from `base` on, and let them go. */
static int
put_held(Writer *w, Py_ssize_t base, int depth)
{
    Py_ssize_t stop = w->held_count;
    int result = 0;
    for (Py_ssize_t at = base; at < stop && result == 0; at++)
        result = put(w, w->held[at], depth);
    release_held(w, base);
    return result;
}

/* Write the head of a small dict with texts as keys, and its values until one has something inside; hold all others.

   Return 1, with `mark` where they begin; 0 where it is no such dict. Apart from `put_dict`, whose frame stays small: threads
   may have little of a stack. */
Py_NO_INLINE static int
begin_small_text_dict(Writer *w, PyObject *value, Py_ssize_t *mark)
{
    PyObject *keys[SHAPE_KEYS_MAX], *values[SHAPE_KEYS_MAX];
    unsigned char order[SHAPE_KEYS_MAX];
    Py_ssize_t position = 0, at = 0, count = PyDict_GET_SIZE(value);
    if (count > SHAPE_KEYS_MAX)
        return 0;
    while (at < count && PyDict_Next(value, &position, &keys[at], &values[at]))
        if (!PyUnicode_CheckExact(keys[at++]))
            return 0;
    if (put_count(w, 'd', count) < 0 || reserve_held(w, 3 * count) < 0)
        return -1;
    Shape *shape = find_shape(w, keys, values, count);
    if (shape == NULL)
        return -1;
    *mark = w->held_count; /* below it, keys and values of a new shape are held until the dict is written */
    if (put_raw(w, shape->form, shape->length) < 0)
        return -1;
    memcpy(order, shape->order, (size_t)count);
    for (at = 0; at < count; at++) {
        int written = put_leaf(w, values[order[at]]);
        if (written < 0)
            return -1;
        if (!written)
            break;
    }
    /* From here on Python code may run, and change the dict. */
    for (; at < count; at++)
        hold(w, &values[order[at]], 1);
    return 1;
}

static int
put_large_text_dict(Writer *w, PyObject *value, int depth)
{
    PyObject *keys = PyDict_Keys(value);
    if (keys == NULL)
        return -1;
    Py_ssize_t count = PyList_GET_SIZE(keys), base = w->held_count;
    int result = 0;
    for (Py_ssize_t at = 0; at < count && result == 0; at++)
        if (!PyUnicode_CheckExact(PyList_GET_ITEM(keys, at)))
            result = fall_back(w); /* it changed meanwhile */
    if (result == 0)
        result = PyList_Sort(keys);
    if (result == 0)
        result = put_count(w, 'd', count);
    for (Py_ssize_t at = 0; at < count && result == 0; at++)
        result = put_text(w, PyList_GET_ITEM(keys, at));
    if (result == 0)
        result = reserve_held(w, count);
    for (Py_ssize_t at = 0; at < count && result == 0; at++) {
        PyObject *each = PyDict_GetItemWithError(value, PyList_GET_ITEM(keys, at));
        if (each == NULL)
            result = PyErr_Occurred() ? -1 : fall_back(w); /* it changed meanwhile */
        else
            hold(w, &each, 1);
    }
    Py_DECREF(keys);
    if (result < 0) {
        release_held(w, base);
        return -1;
    }
    return put_held(w, base, depth + 1);
}

typedef struct {
    long long key;
    PyObject *value;
} Numbered;

static int
compare_numbered(const void *one, const void *other)
{
    long long a = ((const Numbered *)one)->key, b = ((const Numbered *)other)->key;
    return (a > b) - (a < b);
}

/* Write a dict whose keys are integers of 64 bits; 0 where one is wider. */
static int
put_whole_number_dict(Writer *w, PyObject *value, int depth)
{
    Py_ssize_t count = PyDict_GET_SIZE(value), position = 0, at = 0, base = w->held_count;
    PyObject *key, *each;
    if (reserve_held(w, count) < 0)
        return -1;
    Numbered *rows = PyMem_RawMalloc((size_t)count * sizeof *rows);
    if (rows == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    int overflow = 0;
    while (!overflow && PyDict_Next(value, &position, &key, &each)) {
        rows[at].key = PyLong_AsLongLongAndOverflow(key, &overflow);
        rows[at++].value = each;
    }
    int result = -1;
    if (!overflow) {
        qsort(rows, (size_t)count, sizeof *rows, compare_numbered);
        result = put_count(w, 'd', count);
        for (at = 0; at < count && result == 0; at++)
            result = put_number(w, 'i', &rows[at].key);
        for (at = 0; at < count && result == 0; at++)
            hold(w, &rows[at].value, 1);
    }
    PyMem_RawFree(rows);
    if (overflow)
        return 0;
    if (result < 0 || put_held(w, base, depth + 1) < 0)
        return -1;
    return 1;
}

int
put_dict(Writer *w, PyObject *value, int depth)
{
    Py_ssize_t position = 0, base = w->held_count, mark;
    if (PyDict_GET_SIZE(value) == 0)
        return put_count(w, 'd', 0);
    int written = begin_small_text_dict(w, value, &mark);
    if (written) {
        if (written > 0 && put_held(w, mark, depth + 1) < 0)
            written = -1;
        release_held(w, base);
        return written < 0 ? -1 : 0;
    }
    PyObject *key, *each;
    PyTypeObject *cls = NULL;
    while (PyDict_Next(value, &position, &key, &each)) {
        if (cls != Py_TYPE(key) && cls != NULL)
            return put_decomposed(w, value, depth);
        cls = Py_TYPE(key);
    }
    if (cls == &PyUnicode_Type)
        return put_large_text_dict(w, value, depth);
    if (cls == &PyLong_Type) {
        written = put_whole_number_dict(w, value, depth);
        if (written)
            return written < 0 ? -1 : 0;
    }
    return put_decomposed(w, value, depth);
}
