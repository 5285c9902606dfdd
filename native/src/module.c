/* The compiled twin of twice: the same bytes, errors and paths, and less time. */

#include "twice_fast.h"

#ifndef TWICE_VERSION
#error "setup.py says for which version of twice this is built"
#endif

static int
add_all(PyObject *module)
{
    if (PyModule_AddStringConstant(module, "version", TWICE_VERSION) < 0)
        return -1;
    PyObject *cls = PyType_FromModuleAndSpec(module, &encoder_spec, NULL);
    if (cls == NULL)
        return -1;
    int result = PyModule_AddType(module, (PyTypeObject *)cls);
    Py_DECREF(cls);
    return result;
}

static PyMethodDef functions[] = {
    {"make_read", make_read, METH_VARARGS,
     "Return a governed read, and the function that is told whose reads it notes itself. Arguments: its name, its module's "
     "name, its text, the real function, the operation's number, the context variable of actors, their class, its slots for "
     "number and values, how many values one run holds, the function that judges and answers, whether a size is given."},
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
