/* The compiled twin of twice: the same bytes, errors and paths, and less time. */

#include "twice_fast.h"

#include "blake3.h"

#define INTERFACE 3 /* as twice.foundation.compiled has it: between two releases a checkout may have an older build */

#ifndef TWICE_VERSION
#error "setup.py says for which version of twice this is built"
#endif

static int
add_all(PyObject *module)
{
    if (PyModule_AddStringConstant(module, "version", TWICE_VERSION) < 0
        || PyModule_AddIntMacro(module, INTERFACE) < 0)
        return -1;
    PyObject *cls = PyType_FromModuleAndSpec(module, &encoder_spec, NULL);
    if (cls == NULL)
        return -1;
    int result = PyModule_AddType(module, (PyTypeObject *)cls);
    Py_DECREF(cls);
    return result;
}

static PyObject *
digest_short(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "digest_short() takes a function for longer data, and the data");
        return NULL;
    }
    Py_buffer view;
    if (PyObject_GetBuffer(arguments[1], &view, PyBUF_SIMPLE) < 0)
        return NULL;
    int fits = view.len <= CHUNK_BYTES;
    uint8_t digest[DIGEST_BYTES];
    if (fits)
        hash_chunk(view.buf, (size_t)view.len, digest);
    PyBuffer_Release(&view);
    return fits ? PyBytes_FromStringAndSize((char *)digest, DIGEST_BYTES) : PyObject_CallOneArg(arguments[0], arguments[1]);
}

static PyMethodDef functions[] = {
    {"digest_short", (PyCFunction)(void (*)(void))digest_short, METH_FASTCALL,
     "Return the first 16 bytes of the blake3 digest of a buffer. Arguments: the function that does so for more than 1,024 "
     "bytes, the buffer."},
    {"make_read", make_read, METH_VARARGS,
     "Return a governed read, and the function that is told whose reads it notes itself. Arguments: its name, its module's "
     "name, its text, the real function, the operation's number, the context variable of actors, their class, its slots for "
     "number and values, how many values one run holds, the function that judges and answers, whether a size is given, "
     "the class of sources, the actor's slot for its source or None where the world is asked, and a source's slots for the "
     "number and values of what the record has next, last first."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, add_all},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "twice_fast",
    .m_doc = "The compiled twin of twice. twice uses it where it is installed, unless TWICE_PURE is set.",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC
PyInit_twice_fast(void)
{
    return PyModuleDef_Init(&definition);
}
