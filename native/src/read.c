/* A governed read of the world that is recorded or served: a clock, or so many bytes of entropy.

   Python decides whose read it is, and answers every read but those that follow one by the same module: these are asked
   of the real function, or taken from the values that the record has next, and noted beside the actor's earlier ones, as
   the functions of twice.recorder.effects do.

   What stands in the place of a function of a module is one of the same type, with the same names: programs copy, pickle
   and compare such functions. Its state is that of a module object, which it has for its self.

   Invariant: only a read whose module Python has just called the program's own is noted here. */

#include "twice_fast.h"

#include <stddef.h>
#include <structmember.h>

typedef struct {
    PyObject *real, *number, *variable, *actor_class, *slow;
    PyObject *source_class; /* NULL where the world is asked */
    PyObject *module;       /* globals of the code that asked last, where its reads are the program's own */
    PyObject *note;         /* name of the method that begins another run of reads */
    PyObject *name, *text;
    Py_ssize_t number_at, values_at, most;
    Py_ssize_t source_at, next_number_at, next_at;
    int is_sized;
    PyMethodDef method;
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

/* Ask the world; return what is noted of it. */
static PyObject *
ask_world(Read *self, PyObject *size)
{
    if (size == NULL)
        return PyObject_CallNoArgs(self->real);
    PyObject *value = PyObject_CallOneArg(self->real, size);
    PyObject *noted = value == NULL ? NULL : PyTuple_Pack(2, size, value);
    Py_XDECREF(value);
    return noted;
}

/* Take the value that the record has next for the actor; NULL where Python has to find it, or to refuse the read. */
static PyObject *
take_recorded(Read *self, PyObject *actor, PyObject *size)
{
    PyObject *source = slot(actor, self->source_at);
    if (source == NULL || !PyObject_TypeCheck(source, (PyTypeObject *)self->source_class))
        return NULL;
    PyObject *number = slot(source, self->next_number_at), *values = slot(source, self->next_at);
    if (number == NULL || values == NULL || !PyLong_CheckExact(number) || !PyList_CheckExact(values))
        return NULL;
    Py_ssize_t last = PyList_GET_SIZE(values) - 1;
    if (last < 0 || PyObject_RichCompareBool(number, self->number, Py_EQ) != 1)
        return NULL;
    PyObject *value = PyList_GET_ITEM(values, last);
    if (size != NULL) {
        int fits = PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) == 2
                   && PyLong_CheckExact(PyTuple_GET_ITEM(value, 0));
        if (!fits || PyObject_RichCompareBool(PyTuple_GET_ITEM(value, 0), size, Py_EQ) != 1)
            return NULL;
    }
    Py_INCREF(value);
    if (PyList_SetSlice(values, last, last + 1, NULL) < 0)
        Py_CLEAR(value);
    return value;
}

/* Note a read, and return its value; what is noted is taken over. */
static PyObject *
note(Read *self, PyObject *actor, PyObject *noted)
{
    PyObject *value = self->is_sized ? PyTuple_GET_ITEM(noted, 1) : noted;
    Py_INCREF(value);
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
read_call(PyObject *holder, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    Read *self = PyModule_GetState(holder);
    PyObject *globals = PyEval_GetGlobals(), *actor = NULL, *value;
    int fits = (names == NULL || PyTuple_GET_SIZE(names) == 0) && count == self->is_sized
               && (!self->is_sized || PyLong_CheckExact(arguments[0]));
    if (fits && globals != NULL && globals == self->module) {
        if (PyContextVar_Get(self->variable, NULL, &actor) < 0)
            return NULL;
        if (actor != NULL && (PyObject *)Py_TYPE(actor) == self->actor_class) {
            PyObject *size = self->is_sized ? arguments[0] : NULL;
            PyObject *noted = self->source_class == NULL ? ask_world(self, size) : take_recorded(self, actor, size);
            value = noted == NULL ? NULL : note(self, actor, noted);
            Py_DECREF(actor);
            if (value != NULL || PyErr_Occurred())
                return value;
        }
        else
            Py_XDECREF(actor);
    }
    if (self->is_sized)
        return PyObject_Vectorcall(self->slow, arguments, (size_t)count, names);
    if (!fits)
        return PyObject_Vectorcall(self->real, arguments, (size_t)count, names); /* it has the words of the refusal */
    if (globals == NULL)
        return PyObject_CallNoArgs(self->real);
    Py_INCREF(globals);
    value = PyObject_CallOneArg(self->slow, globals);
    Py_DECREF(globals);
    return value;
}

static PyObject *
follow(PyObject *holder, PyObject *module)
{
    Read *self = PyModule_GetState(holder);
    Py_INCREF(module);
    Py_XSETREF(self->module, module);
    Py_RETURN_NONE;
}

static PyMethodDef follow_method = {
    "follow", follow, METH_O, "Note the next reads of code with these globals, without asking Python; None: of no code."};

static int
read_traverse(PyObject *holder, visitproc visit, void *arg)
{
    Read *self = PyModule_GetState(holder);
    Py_VISIT(self->real);
    Py_VISIT(self->number);
    Py_VISIT(self->variable);
    Py_VISIT(self->actor_class);
    Py_VISIT(self->source_class);
    Py_VISIT(self->slow);
    Py_VISIT(self->module);
    return 0;
}

static int
read_clear(PyObject *holder)
{
    Read *self = PyModule_GetState(holder);
    Py_CLEAR(self->real);
    Py_CLEAR(self->number);
    Py_CLEAR(self->variable);
    Py_CLEAR(self->actor_class);
    Py_CLEAR(self->source_class);
    Py_CLEAR(self->slow);
    Py_CLEAR(self->module);
    return 0;
}

static void
read_free(void *holder)
{
    Read *self = PyModule_GetState(holder);
    read_clear(holder);
    Py_CLEAR(self->note);
    Py_CLEAR(self->name);
    Py_CLEAR(self->text);
}

static struct PyModuleDef holder_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "twice_fast.read",
    .m_size = sizeof(Read),
    .m_traverse = read_traverse,
    .m_clear = read_clear,
    .m_free = read_free,
};

static int
find_slot(PyObject *descriptor, Py_ssize_t *at)
{
    if (!Py_IS_TYPE(descriptor, &PyMemberDescr_Type)
        || ((PyMemberDescrObject *)descriptor)->d_member->type != T_OBJECT_EX) {
        PyErr_SetString(PyExc_TypeError, "make_read() takes the slots of a class");
        return -1;
    }
    *at = ((PyMemberDescrObject *)descriptor)->d_member->offset;
    return 0;
}

/* Fill a state of zeros; what it holds is released with its module. */
static int
fill(Read *self, PyObject *arguments)
{
    PyObject *module_name, *slots[5];
    if (!PyArg_ParseTuple(arguments, "UUUOO!O!O!OOnOpO!OOO:make_read", &self->name, &module_name, &self->text, &self->real,
                          &PyLong_Type, &self->number, &PyContextVar_Type, &self->variable, &PyType_Type,
                          &self->actor_class, &slots[0], &slots[1], &self->most, &self->slow, &self->is_sized,
                          &PyType_Type, &self->source_class, &slots[2], &slots[3], &slots[4])) {
        memset(self, 0, sizeof *self); /* nothing is held yet */
        return -1;
    }
    if (slots[2] == Py_None)
        self->source_class = NULL;
    PyObject *held[] = {self->name, self->text, self->real, self->number, self->variable, self->actor_class, self->slow};
    for (size_t at = 0; at < sizeof held / sizeof *held; at++)
        Py_INCREF(held[at]);
    Py_XINCREF(self->source_class);
    Py_ssize_t *places[] = {&self->number_at, &self->values_at, &self->source_at, &self->next_number_at, &self->next_at};
    for (int at = 0; at < (self->source_class == NULL ? 2 : 5); at++)
        if (find_slot(slots[at], places[at]) < 0)
            return -1;
    self->note = PyUnicode_InternFromString("note");
    self->method.ml_name = PyUnicode_AsUTF8(self->name);
    self->method.ml_doc = PyUnicode_AsUTF8(self->text);
    self->method.ml_meth = (PyCFunction)(void (*)(void))read_call;
    self->method.ml_flags = METH_FASTCALL | METH_KEYWORDS;
    return self->note == NULL || self->method.ml_name == NULL || self->method.ml_doc == NULL ? -1 : 0;
}

PyObject *
make_read(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *holder = PyModule_Create(&holder_definition), *reads, *follows;
    if (holder == NULL)
        return NULL;
    Read *self = PyModule_GetState(holder);
    memset(self, 0, sizeof *self);
    if (fill(self, arguments) < 0) {
        Py_DECREF(holder);
        return NULL;
    }
    PyObject *name = PyTuple_GET_ITEM(arguments, 1);
    if (PyObject_SetAttrString(holder, "__name__", name) < 0) {
        Py_DECREF(holder);
        return NULL;
    }
    reads = PyCFunction_NewEx(&self->method, holder, name);
    follows = PyCFunction_NewEx(&follow_method, holder, NULL);
    Py_DECREF(holder);
    if (reads == NULL || follows == NULL) {
        Py_XDECREF(reads);
        Py_XDECREF(follows);
        return NULL;
    }
    return Py_BuildValue("NN", reads, follows);
}
