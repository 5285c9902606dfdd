/* Canonical form: the same bytes as twice.foundation.encoding.reference_walk, written in C.

   It writes the values that most states are made of, and asks the decomposers of Python for every other type. What it
   must not judge alone (a refused value, a cycle, deep nesting, a container that changes meanwhile) raises an error that
   makes the caller use the reference, which finds the path and the words.

   Invariant: whatever Python code runs in between (a decomposer, a finaliser), each object that is still to be written
   is held, and all state of a call is its own. */

#include "twice_fast.h"

#include <stdint.h>
#include <string.h>

#if PY_BIG_ENDIAN
#error "canonical form is little-endian; this file writes numbers as they are in memory"
#endif

#define DEPTH_MAX 100
#define COUNT_MAX 0xFFFFFFFFLL
#define KEPT_BYTES_MAX (16 << 20)
#define SHAPES 2048
#define SHAPE_KEYS_MAX 64

/* The keys of a dict in the order in which they were put in: their canonical form, and the order of the values. */
typedef struct {
    Py_hash_t hash;
    Py_ssize_t count;
    PyObject *keys[SHAPE_KEYS_MAX];
    unsigned char order[SHAPE_KEYS_MAX];
    Py_ssize_t length;
    char form[];
} Shape;

typedef struct {
    PyObject_HEAD
    PyObject *decomposers, *find_decomposer, *decompose_array, *encode_array, *heads, *fall_back, *encode_key;
    PyObject *dtype, *shape; /* names of attributes */
    Shape *shapes[SHAPES];
    char *spare; /* the buffer of the last call */
    Py_ssize_t spare_capacity;
} Encoder;

typedef struct {
    Encoder *encoder;
    char *bytes; /* what was written and is in no part yet */
    Py_ssize_t length, capacity;
    PyObject **held; /* strong references to values that are still to be written */
    Py_ssize_t held_count, held_capacity;
    PyObject *parts; /* a list, or NULL where one byte string is wanted */
    Py_ssize_t threshold;
} Writer;

static int put(Writer *w, PyObject *value, int depth);

/* -- memory */

static int
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

static int
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

static void
release_held(Writer *w, Py_ssize_t until)
{
    while (w->held_count > until) {
        PyObject *last = w->held[--w->held_count];
        Py_DECREF(last);
    }
}

static int
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

static int
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
static int
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

static int
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

static int
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

/* -- what Python takes apart */

static int
put_children(Writer *w, PyObject *children, int depth)
{
    PyObject *items = PySequence_Fast(children, "children of a value are a sequence");
    if (items == NULL)
        return -1;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
    int result = 0;
    for (Py_ssize_t at = 0; at < count && result == 0; at++) {
        if (PySequence_Fast_GET_SIZE(items) != count) {
            result = fall_back(w); /* it changed meanwhile */
            break;
        }
        PyObject *child = PySequence_Fast_GET_ITEM(items, at);
        Py_INCREF(child);
        result = put(w, child, depth);
        Py_DECREF(child);
    }
    Py_DECREF(items);
    return result;
}

/* Return the header of an array whose elements lie in memory as they are written, borrowed; NULL where it is not known. */
static PyObject *
find_head(Encoder *encoder, PyObject *array)
{
    PyObject *head = NULL, *known = NULL, *key = NULL;
    PyObject *dtype = PyObject_GetAttr(array, encoder->dtype), *shape = PyObject_GetAttr(array, encoder->shape);
    if (dtype != NULL && shape != NULL && (key = PyTuple_Pack(2, dtype, shape)) != NULL)
        known = PyDict_GetItemWithError(encoder->heads, key);
    if (known != NULL && PyTuple_GET_ITEM(known, 2) == Py_True)
        head = PyTuple_GET_ITEM(known, 0);
    Py_XDECREF(key);
    Py_XDECREF(dtype);
    Py_XDECREF(shape);
    return head;
}

static int
put_array(Writer *w, PyObject *value)
{
    PyObject *head = find_head(w->encoder, value);
    if (head == NULL && PyErr_Occurred())
        return -1;
    Py_buffer view;
    if (head != NULL && PyObject_GetBuffer(value, &view, PyBUF_C_CONTIGUOUS) == 0) {
        int is_small = w->parts == NULL || view.len < w->threshold;
        int result = 0;
        if (is_small) {
            result = put_raw(w, PyBytes_AS_STRING(head), PyBytes_GET_SIZE(head));
            if (result == 0)
                result = put_raw(w, view.buf, view.len);
        }
        PyBuffer_Release(&view);
        if (is_small)
            return result;
    }
    PyErr_Clear(); /* strided, or without a format: dates and fixed-width text */
    PyObject *pair = PyObject_CallOneArg(w->encoder->encode_array, value);
    if (pair == NULL)
        return -1;
    int result = put_buffer(w, PyTuple_GET_ITEM(pair, 0));
    if (result == 0)
        result = put_buffer(w, PyTuple_GET_ITEM(pair, 1));
    Py_DECREF(pair);
    return result;
}

static int
put_decomposed(Writer *w, PyObject *value, int depth)
{
    Encoder *encoder = w->encoder;
    PyObject *cls = (PyObject *)Py_TYPE(value);
    PyObject *decompose = PyDict_GetItemWithError(encoder->decomposers, cls);
    if (decompose == NULL && PyErr_Occurred())
        return -1;
    if (decompose != NULL)
        Py_INCREF(decompose);
    else if ((decompose = PyObject_CallOneArg(encoder->find_decomposer, cls)) == NULL)
        return -1;
    if (decompose == encoder->decompose_array) {
        Py_DECREF(decompose);
        return put_array(w, value);
    }
    PyObject *arguments[2] = {value, encoder->encode_key};
    PyObject *found = PyObject_Vectorcall(decompose, arguments, 2, NULL);
    Py_DECREF(decompose);
    if (found == NULL)
        return -1;
    int result = 0;
    PyObject *parts = PyTuple_GET_ITEM(found, 0), *children = PyTuple_GET_ITEM(found, 1);
    for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(parts) && result == 0; at++)
        result = put_buffer(w, PyTuple_GET_ITEM(parts, at));
    if (result == 0)
        result = put_children(w, children, depth + 1);
    Py_DECREF(found);
    return result;
}

/* -- sequences */

/* Write a list or tuple of nothing but floats, or of nothing but integers of 64 bits; 0 where it is neither. */
static int
put_vector(Writer *w, PyObject **items, Py_ssize_t count, char kind)
{
    PyTypeObject *cls = Py_TYPE(items[0]);
    if (cls != &PyFloat_Type && cls != &PyLong_Type)
        return 0;
    for (Py_ssize_t at = 1; at < count; at++)
        if (Py_TYPE(items[at]) != cls)
            return 0;
    if (count > COUNT_MAX)
        return fall_back(w);
    if (reserve(w, 7 + 8 * count) < 0)
        return -1;
    char *to = w->bytes + w->length;
    uint32_t number = (uint32_t)count;
    to[0] = 'v';
    to[1] = kind;
    to[2] = cls == &PyFloat_Type ? 'f' : 'i';
    memcpy(to + 3, &number, 4);
    to += 7;
    for (Py_ssize_t at = 0; at < count; at++, to += 8) {
        if (cls == &PyFloat_Type) {
            double real = one_nan(PyFloat_AS_DOUBLE(items[at]));
            memcpy(to, &real, 8);
        }
        else {
            int overflow;
            long long whole = PyLong_AsLongLongAndOverflow(items[at], &overflow);
            if (overflow)
                return 0;
            memcpy(to, &whole, 8);
        }
    }
    w->length += 7 + 8 * count;
    return 1;
}

static int
put_sequence(Writer *w, PyObject *value, char kind, int depth)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(value);
    if (count) {
        int written = put_vector(w, PySequence_Fast_ITEMS(value), count, kind);
        if (written)
            return written < 0 ? -1 : 0;
    }
    if (put_count(w, kind, count) < 0)
        return -1;
    return put_children(w, value, depth + 1);
}

/* -- dicts */

static void
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

/* Return the shape of these keys, which is valid until Python code runs; NULL with an error. Room to hold both is there. */
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
    release_held(w, base);
    if (shape != NULL) {
        Shape *old = *place;
        *place = shape;
        if (old != NULL)
            free_shape(old); /* texts: no Python code runs */
    }
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

static int
put_small_text_dict(Writer *w, PyObject **keys, PyObject **values, Py_ssize_t count, int depth)
{
    Py_ssize_t at = 0, base = w->held_count;
    unsigned char order[SHAPE_KEYS_MAX];
    if (put_count(w, 'd', count) < 0 || reserve_held(w, 2 * count) < 0)
        return -1;
    Shape *shape = find_shape(w, keys, values, count);
    if (shape == NULL || put_raw(w, shape->form, shape->length) < 0)
        return -1;
    memcpy(order, shape->order, (size_t)count);
    for (; at < count; at++) {
        int written = put_leaf(w, values[order[at]]);
        if (written < 0)
            return -1;
        if (!written)
            break;
    }
    /* From here on Python code may run, and change the dict. */
    for (; at < count; at++)
        hold(w, &values[order[at]], 1);
    return put_held(w, base, depth + 1);
}

static int
put_large_text_dict(Writer *w, PyObject *value, int depth)
{
    PyObject *keys = PyDict_Keys(value);
    if (keys == NULL)
        return -1;
    Py_ssize_t count = PyList_GET_SIZE(keys), base = w->held_count;
    int result = PyList_Sort(keys);
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

static int
put_dict(Writer *w, PyObject *value, int depth)
{
    PyObject *keys[SHAPE_KEYS_MAX], *values[SHAPE_KEYS_MAX], *key, *each;
    Py_ssize_t position = 0, at = 0, count = PyDict_GET_SIZE(value);
    if (count == 0)
        return put_count(w, 'd', 0);
    PyTypeObject *cls = NULL;
    while (PyDict_Next(value, &position, &key, &each)) {
        if (cls != Py_TYPE(key) && cls != NULL)
            return put_decomposed(w, value, depth);
        cls = Py_TYPE(key);
        if (at < SHAPE_KEYS_MAX) {
            keys[at] = key;
            values[at++] = each;
        }
    }
    if (cls == &PyUnicode_Type && count <= SHAPE_KEYS_MAX)
        return put_small_text_dict(w, keys, values, count, depth);
    if (cls == &PyUnicode_Type)
        return put_large_text_dict(w, value, depth);
    if (cls == &PyLong_Type) {
        int written = put_whole_number_dict(w, value, depth);
        if (written)
            return written < 0 ? -1 : 0;
    }
    return put_decomposed(w, value, depth);
}

static int
put(Writer *w, PyObject *value, int depth)
{
    int written = put_leaf(w, value);
    if (written)
        return written < 0 ? -1 : 0;
    if (depth > DEPTH_MAX)
        return fall_back(w);
    PyTypeObject *cls = Py_TYPE(value);
    if (cls == &PyDict_Type)
        return put_dict(w, value, depth);
    if (cls == &PyList_Type)
        return put_sequence(w, value, 'l', depth);
    if (cls == &PyTuple_Type)
        return put_sequence(w, value, 't', depth);
    if (cls == &PyBytes_Type)
        return put_large_bytes(w, value);
    return put_decomposed(w, value, depth);
}

/* -- the type */

static PyObject *
encode(Encoder *self, PyObject *value, PyObject *parts, Py_ssize_t threshold)
{
    Writer w = {.encoder = self, .parts = parts, .threshold = threshold};
    /* A call in between has a buffer of its own. */
    w.bytes = self->spare;
    w.capacity = self->spare_capacity;
    self->spare = NULL;
    self->spare_capacity = 0;
    Py_INCREF(self);
    int result = put(&w, value, 0);
    PyObject *found = NULL;
    if (result == 0 && parts == NULL)
        found = PyBytes_FromStringAndSize(w.bytes, w.length);
    else if (result == 0 && flush(&w) == 0) {
        Py_INCREF(parts);
        found = parts;
    }
    release_held(&w, 0);
    PyMem_RawFree(w.held);
    if (self->spare == NULL && w.capacity <= KEPT_BYTES_MAX) {
        self->spare = w.bytes;
        self->spare_capacity = w.capacity;
    }
    else
        PyMem_RawFree(w.bytes);
    Py_DECREF(self);
    return found;
}

static PyObject *
encoder_join(Encoder *self, PyObject *value)
{
    return encode(self, value, NULL, 0);
}

static PyObject *
encoder_split(Encoder *self, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "split() takes a value and a threshold");
        return NULL;
    }
    Py_ssize_t threshold = PyLong_AsSsize_t(arguments[1]);
    if (threshold == -1 && PyErr_Occurred())
        return NULL;
    PyObject *parts = PyList_New(0);
    if (parts == NULL)
        return NULL;
    PyObject *found = encode(self, arguments[0], parts, threshold);
    Py_DECREF(parts);
    return found;
}

static int
encoder_init(Encoder *self, PyObject *arguments, PyObject *named)
{
    PyObject *seven[7];
    if (named != NULL && PyDict_GET_SIZE(named)) {
        PyErr_SetString(PyExc_TypeError, "Encoder() takes no keyword arguments");
        return -1;
    }
    if (!PyArg_ParseTuple(arguments, "O!OOOO!OO", &PyDict_Type, &seven[0], &seven[1], &seven[2], &seven[3], &PyDict_Type,
                          &seven[4], &seven[5], &seven[6]))
        return -1;
    PyObject **slots[7] = {
        &self->decomposers, &self->find_decomposer, &self->decompose_array, &self->encode_array,
        &self->heads, &self->fall_back, &self->encode_key,
    };
    for (int at = 0; at < 7; at++) {
        Py_INCREF(seven[at]);
        Py_XSETREF(*slots[at], seven[at]);
    }
    Py_XSETREF(self->dtype, PyUnicode_InternFromString("dtype"));
    Py_XSETREF(self->shape, PyUnicode_InternFromString("shape"));
    return self->dtype == NULL || self->shape == NULL ? -1 : 0;
}

static int
encoder_traverse(Encoder *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->decomposers);
    Py_VISIT(self->find_decomposer);
    Py_VISIT(self->decompose_array);
    Py_VISIT(self->encode_array);
    Py_VISIT(self->heads);
    Py_VISIT(self->fall_back);
    Py_VISIT(self->encode_key);
    return 0;
}

static int
encoder_clear(Encoder *self)
{
    Py_CLEAR(self->decomposers);
    Py_CLEAR(self->find_decomposer);
    Py_CLEAR(self->decompose_array);
    Py_CLEAR(self->encode_array);
    Py_CLEAR(self->heads);
    Py_CLEAR(self->fall_back);
    Py_CLEAR(self->encode_key);
    Py_CLEAR(self->dtype);
    Py_CLEAR(self->shape);
    return 0;
}

static void
encoder_dealloc(Encoder *self)
{
    PyTypeObject *cls = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    encoder_clear(self);
    for (int at = 0; at < SHAPES; at++)
        if (self->shapes[at] != NULL)
            free_shape(self->shapes[at]);
    PyMem_RawFree(self->spare);
    cls->tp_free((PyObject *)self);
    Py_DECREF(cls);
}

static PyMethodDef encoder_methods[] = {
    {"join", (PyCFunction)encoder_join, METH_O, "Return the canonical form of a value as one byte string."},
    {"split", (PyCFunction)(void (*)(void))encoder_split, METH_FASTCALL,
     "Return the canonical form of a value in parts: buffers of at least threshold bytes are parts of their own."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot encoder_slots[] = {
    {Py_tp_doc, "Writes canonical form. Arguments: decomposers by type, find_decomposer, decompose_array, encode_array, "
                "headers of arrays, the exception that asks for the reference, encode_key."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_init, encoder_init},
    {Py_tp_traverse, encoder_traverse},
    {Py_tp_clear, encoder_clear},
    {Py_tp_dealloc, encoder_dealloc},
    {Py_tp_methods, encoder_methods},
    {0, NULL},
};

PyType_Spec encoder_spec = {
    .name = "twice_fast.Encoder",
    .basicsize = sizeof(Encoder),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = encoder_slots,
};
