package dev.doorbell.ptxjit.emit;

import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.DynamicConstantDesc;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Objects that the code of a hidden class refers to: by index, and constants to HotSpot. */
public final class ClassData {
  private final List<Object> objects = new ArrayList<>();
  private final Map<Object, Integer> known = new HashMap<>();

  /** What the class is defined with. */
  public List<Object> objects() {
    return objects;
  }

  /** The place of an object. */
  int of(Object object) {
    return known.computeIfAbsent(object, this::add);
  }

  /** A place of its own, which may get another object before the code runs. */
  public int add(Object object) {
    objects.add(object);
    return objects.size() - 1;
  }

  /** Pushes what stands at a place. */
  public static void push(CodeBuilder code, int place, ClassDesc type) {
    code.ldc(
        DynamicConstantDesc.ofNamed(
            ConstantDescs.BSM_CLASS_DATA_AT, ConstantDescs.DEFAULT_NAME, type, place));
  }
}
