/* A governed read of the world that is recorded: a clock, or so many bytes of entropy.

   Python decides whose read it is, and answers every read but those that follow one by the same module: these are asked
   of the real function, and noted beside the actor's earlier ones, as the functions of twice.recorder.effects do.

   Invariant: only a read whose module Python has just called the program's own is noted here. */

#include "twice_fast.h"

#include <stddef.h>
#include <structmember.h>

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *real, *number, *variable, *actor_class, *slow;
    PyObject *module; /* globals of the code that asked last, where its reads are the program's own */
    PyObject *note;   /* name of the method that begins another run of reads */
    Py_ssize_t number_at, values_at, most;
    int is_sized;
} Read;

static inline PyObject *
slot(PyObject *object, Py_ssize_t at)
{
    return *(PyObject **)((char *)object + at);
}

/* Note a value beside earlier ones of the same operation; 0 where there are none, or too many. */
static int
append(Read *self, PyObject *actor, PyObject *value)
{
    PyObject *values = slot(actor, self->values_at);
    if (slot(actor, self->number_at) != self->number || values == NULL || !PyList_CheckExact(values)
        || PyList_GET_SIZE(values) >= self->most)
        return 0;
    return PyList_Append(values, value) < 0 ? -1 : 1;
}

static PyObject *
ask(Read *self, PyObject *actor, PyObject *size)
{
    PyObject *value = size == NULL ? PyObject_CallNoArgs(self->real) : PyObject_CallOneArg(self->real, size);
    if (value == NULL)
        return NULL;
    PyObject *noted = value;
    if (size == NULL)
        Py_INCREF(noted);
    else if ((noted = PyTuple_Pack(2, size, value)) == NULL) {
        Py_DECREF(value);
        return NULL;
    }
    int result = append(self, actor, noted);
    if (result == 0) {
        PyObject *arguments[3] = {actor, self->number, noted};
        PyObject *done = PyObject_VectorcallMethod(self->note, arguments, 3, NULL);
        result = done == NULL ? -1 : 1;
        Py_XDECREF(done);
    }
    Py_DECREF(noted);
    if (result < 0)
        Py_CLEAR(value);
    return value;
}

static PyObject *
read_call(PyObject *object, PyObject *const *arguments, size_t flagged, PyObject *names)
{
    Read *self = (Read *)object;
    Py_ssize_t count = PyVectorcall_NARGS(flagged);
    PyObject *globals = PyEval_GetGlobals(), *actor = NULL, *value;
    int fits = (names == NULL || PyTuple_GET_SIZE(names) == 0) && count == self->is_sized
               && (!self->is_sized || PyLong_CheckExact(arguments[0]));
    if (fits && globals != NULL && globals == self->module) {
        if (PyContextVar_Get(self->variable, NULL, &actor) < 0)
            return NULL;
        if (actor != NULL && (PyObject *)Py_TYPE(actor) == self->actor_class) {
            value = ask(self, actor, self->is_sized ? arguments[0] : NULL);
            Py_DECREF(actor);
            return value;
        }
        Py_XDECREF(actor);
    }
    if (self->is_sized)
        return PyObject_Vectorcall(self->slow, arguments, flagged, names);
    if (!fits)
        return PyObject_Vectorcall(self->real, arguments, flagged, names); /* it has the words of the refusal */
    if (globals == NULL)
        return PyObject_CallNoArgs(self->real);
    Py_INCREF(globals);
    value = PyObject_CallOneArg(self->slow, globals);
    Py_DECREF(globals);
    return value;
}

static int
find_slot(PyObject *descriptor, Py_ssize_t *at)
{
    if (!Py_IS_TYPE(descriptor, &PyMemberDescr_Type)
        || ((PyMemberDescrObject *)descriptor)->d_member->type != T_OBJECT_EX) {
        PyErr_SetString(PyExc_TypeError, "Read() takes the slots of a class");
        return -1;
    }
    *at = ((PyMemberDescrObject *)descriptor)->d_member->offset;
    return 0;
}

static int
read_init(Read *self, PyObject *arguments, PyObject *named)
{
    PyObject *real, *number, *variable, *actor_class, *number_slot, *values_slot, *slow;
    Py_ssize_t most;
    int is_sized;
    if (named != NULL && PyDict_GET_SIZE(named)) {
        PyErr_SetString(PyExc_TypeError, "Read() takes no keyword arguments");
        return -1;
    }
    if (!PyArg_ParseTuple(arguments, "OO!O!O!OOnOp", &real, &PyLong_Type, &number, &PyContextVar_Type, &variable,
                          &PyType_Type, &actor_class, &number_slot, &values_slot, &most, &slow, &is_sized))
        return -1;
    if (find_slot(number_slot, &self->number_at) < 0 || find_slot(values_slot, &self->values_at) < 0)
        return -1;
    self->call = read_call;
    self->most = most;
    self->is_sized = is_sized;
    PyObject *given[] = {real, number, variable, actor_class, slow};
    PyObject **slots[] = {&self->real, &self->number, &self->variable, &self->actor_class, &self->slow};
    for (int at = 0; at < 5; at++) {
        Py_INCREF(given[at]);
        Py_XSETREF(*slots[at], given[at]);
    }
    Py_XSETREF(self->note, PyUnicode_InternFromString("note"));
    return self->note == NULL ? -1 : 0;
}

static int
read_traverse(Read *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->real);
    Py_VISIT(self->number);
    Py_VISIT(self->variable);
    Py_VISIT(self->actor_class);
    Py_VISIT(self->slow);
    Py_VISIT(self->module);
    return 0;
}

static int
read_clear(Read *self)
{
    Py_CLEAR(self->real);
    Py_CLEAR(self->number);
    Py_CLEAR(self->variable);
    Py_CLEAR(self->actor_class);
    Py_CLEAR(self->slow);
    Py_CLEAR(self->module);
    Py_CLEAR(self->note);
    return 0;
}

static void
read_dealloc(Read *self)
{
    PyTypeObject *cls = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    read_clear(self);
    cls->tp_free((PyObject *)self);
    Py_DECREF(cls);
}

static PyMemberDef read_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Read, call), READONLY, NULL},
    {"module", T_OBJECT, offsetof(Read, module), 0, "Globals of the code whose next reads are noted without asking Python."},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot read_slots[] = {
    {Py_tp_doc, "A governed read. Arguments: the real function, the operation's number, the context variable of actors, "
                "their class, its slots for number and values, how many values one run holds, the function that judges "
                "and answers, whether a size is given."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_init, read_init},
    {Py_tp_traverse, read_traverse},
    {Py_tp_clear, read_clear},
    {Py_tp_dealloc, read_dealloc},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, read_members},
    {0, NULL},
};

PyType_Spec read_spec = {
    .name = "twice_fast.Read",
    .basicsize = sizeof(Read),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .slots = read_slots,
};
