/* Canonical form: the same bytes as twice.foundation.encoding.reference_walk, written in C.

   It writes the values that most states are made of, and asks the decomposers of Python for every other type. What it
   must not judge alone (a refused value, a cycle, deep nesting, a container that changes meanwhile) raises an error that
   makes the caller use the reference, which finds the path and the words.

   Invariant: whatever Python code runs in between (a decomposer, a finaliser), each object that is still to be written
   is held, and all state of a call is its own. */

#include "writer.h"

#include "blake3.h"

#define KEPT_BYTES_MAX (16 << 20)

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

/* Return the header of an array whose elements lie in memory as they are written; NULL where it is not known. */
static PyObject *
find_head(Encoder *encoder, PyObject *array)
{
    PyObject *head = NULL, *known = NULL, *key = NULL;
    PyObject *dtype = PyObject_GetAttr(array, encoder->dtype);
    PyObject *shape = dtype == NULL ? NULL : PyObject_GetAttr(array, encoder->shape);
    if (shape != NULL && (key = PyTuple_Pack(2, dtype, shape)) != NULL)
        known = PyDict_GetItemWithError(encoder->heads, key);
    if (known != NULL && PyTuple_GET_ITEM(known, 2) == Py_True) {
        head = PyTuple_GET_ITEM(known, 0);
        Py_INCREF(head);
    }
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
        if (is_small) {
            Py_DECREF(head);
            return result;
        }
    }
    Py_XDECREF(head);
    if (PyErr_Occurred()) {
        /* Strided, or without a format: dates and fixed-width text. */
        if (!PyErr_ExceptionMatches(PyExc_ValueError) && !PyErr_ExceptionMatches(PyExc_BufferError))
            return -1;
        PyErr_Clear();
    }
    PyObject *pair = PyObject_CallOneArg(w->encoder->encode_array, value);
    if (pair == NULL)
        return -1;
    int result = put_buffer(w, PyTuple_GET_ITEM(pair, 0));
    if (result == 0)
        result = put_buffer(w, PyTuple_GET_ITEM(pair, 1));
    Py_DECREF(pair);
    return result;
}

int
put_decomposed(Writer *w, PyObject *value, int depth)
{
    Encoder *encoder = w->encoder;
    PyObject *cls = (PyObject *)Py_TYPE(value);
    Py_INCREF(cls); /* its metaclass may give the value another one */
    PyObject *decompose = PyDict_GetItemWithError(encoder->decomposers, cls);
    if (decompose != NULL)
        Py_INCREF(decompose);
    else if (!PyErr_Occurred())
        decompose = PyObject_CallOneArg(encoder->find_decomposer, cls);
    Py_DECREF(cls);
    if (decompose == NULL)
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

int
put(Writer *w, PyObject *value, int depth)
{
    int written = put_leaf(w, value);
    if (written)
        return written < 0 ? -1 : 0;
    if (depth >= w->encoder->depth_max)
        return fall_back(w);
    for (int at = 0; at < depth; at++)
        if (w->open[at] == value) /* a cycle */
            return fall_back(w);
    w->open[depth] = value;
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
encode(Encoder *self, PyObject *value, PyObject *parts, Py_ssize_t threshold, int is_hashed)
{
    if (self->decomposers == NULL) {
        PyErr_SetString(PyExc_TypeError, "this Encoder was not initialised");
        return NULL;
    }
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
    else if (result == 0 && is_hashed && PyList_GET_SIZE(parts) == 0 && w.length <= CHUNK_BYTES) {
        uint8_t digest[DIGEST_BYTES];
        hash_chunk(w.bytes, (size_t)w.length, digest);
        found = PyBytes_FromStringAndSize((char *)digest, DIGEST_BYTES);
    }
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
    return encode(self, value, NULL, 0, 0);
}

static PyObject *
encode_parts(Encoder *self, PyObject *const *arguments, Py_ssize_t count, int is_hashed)
{
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "a value and a threshold are expected");
        return NULL;
    }
    Py_ssize_t threshold = PyNumber_AsSsize_t(arguments[1], NULL); /* cut to what fits */
    if (threshold == -1 && PyErr_Occurred())
        return NULL;
    PyObject *parts = PyList_New(0);
    if (parts == NULL)
        return NULL;
    PyObject *found = encode(self, arguments[0], parts, threshold, is_hashed);
    Py_DECREF(parts);
    return found;
}

static PyObject *
encoder_split(Encoder *self, PyObject *const *arguments, Py_ssize_t count)
{
    return encode_parts(self, arguments, count, 0);
}

static PyObject *
encoder_digest(Encoder *self, PyObject *const *arguments, Py_ssize_t count)
{
    return encode_parts(self, arguments, count, 1);
}

static int
encoder_init(Encoder *self, PyObject *arguments, PyObject *named)
{
    PyObject *seven[7];
    if (named != NULL && PyDict_GET_SIZE(named)) {
        PyErr_SetString(PyExc_TypeError, "Encoder() takes no keyword arguments");
        return -1;
    }
    int depth_max;
    if (!PyArg_ParseTuple(arguments, "O!OOOO!OOi", &PyDict_Type, &seven[0], &seven[1], &seven[2], &seven[3], &PyDict_Type,
                          &seven[4], &seven[5], &seven[6], &depth_max))
        return -1;
    if (self->decomposers != NULL || depth_max < 1 || depth_max > DEPTH_MAX) {
        PyErr_Format(PyExc_ValueError, "Encoder() is made once, for 1 to %d levels", DEPTH_MAX);
        return -1;
    }
    self->depth_max = depth_max;
    self->dtype = PyUnicode_InternFromString("dtype");
    self->shape = PyUnicode_InternFromString("shape");
    if (self->dtype == NULL || self->shape == NULL)
        return -1; /* without decomposers it refuses to encode */
    PyObject **slots[7] = {
        &self->decomposers, &self->find_decomposer, &self->decompose_array, &self->encode_array,
        &self->heads, &self->fall_back, &self->encode_key,
    };
    for (int at = 0; at < 7; at++) {
        Py_INCREF(seven[at]);
        *slots[at] = seven[at];
    }
    return 0;
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
    {"digest", (PyCFunction)(void (*)(void))encoder_digest, METH_FASTCALL,
     "As split; of a form of at most 1,024 bytes, the first 16 bytes of its blake3 digest instead."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot encoder_slots[] = {
    {Py_tp_doc, "Writes canonical form. Arguments: decomposers by type, find_decomposer, decompose_array, encode_array, "
                "headers of arrays, the exception that asks for the reference, encode_key, levels."},
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
