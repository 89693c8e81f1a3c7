/* Part of _heapwalk.c: instances whose __dict__ was never made. */
#ifndef TENURE_HEAPWALK_INSTANCES_H
#define TENURE_HEAPWALK_INSTANCES_H

#ifdef INTERNAL_HEADERS
static PyDictValues *
inline_values(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        return NULL;
    }
#if PY_VERSION_HEX >= 0x030D0000
    if (!(type->tp_flags & Py_TPFLAGS_INLINE_VALUES) || _PyObject_GetManagedDict(object) != NULL) {
        return NULL;
    }
    PyDictValues *values = _PyObject_InlineValues(object);
    return values->valid ? values : NULL;
#else
    if (!(type->tp_flags & Py_TPFLAGS_MANAGED_DICT)) {
        return NULL;
    }
#if PY_VERSION_HEX >= 0x030C0000
    PyDictOrValues found = *_PyObject_DictOrValuesPointer(object);
    return _PyDictOrValues_IsValues(found) ? _PyDictOrValues_GetValues(found) : NULL;
#else
    return *_PyObject_ValuesPointer(object);
#endif
#endif
}
#endif

PyDoc_STRVAR(instance_values_doc,
             "instance_values(object) -> [(name, value)] where no __dict__ was made for it yet, else None");

static PyObject *
heapwalk_instance_values(PyObject *Py_UNUSED(module), PyObject *object)
{
#ifdef INTERNAL_HEADERS
    PyDictValues *values = inline_values(object);
    PyDictKeysObject *keys = values == NULL ? NULL : ((PyHeapTypeObject *)Py_TYPE(object))->ht_cached_keys;
    if (keys != NULL && DK_IS_UNICODE(keys)) {
        PyObject *list = PyList_New(0);
        for (Py_ssize_t i = 0; list != NULL && i < keys->dk_nentries; i++) {
            PyObject *name = DK_UNICODE_ENTRIES(keys)[i].me_key, *value = values->values[i];
            if (name != NULL && value != NULL && append_pair(list, name, value) < 0) {
                Py_CLEAR(list);
            }
        }
        return list;
    }
#else
    (void)object;
#endif
    Py_RETURN_NONE;
}

#endif
