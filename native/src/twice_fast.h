#ifndef TWICE_FAST_H
#define TWICE_FAST_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyType_Spec encoder_spec;
PyObject *make_read(PyObject *module, PyObject *arguments);

#endif
