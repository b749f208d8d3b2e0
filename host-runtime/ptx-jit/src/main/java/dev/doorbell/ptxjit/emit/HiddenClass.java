package dev.doorbell.ptxjit.emit;

import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.attribute.CodeAttribute;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.DynamicConstantDesc;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Class files of generated code; each becomes a hidden class that goes when its module goes. */
public final class HiddenClass {
  /** HotSpot compiles no method larger than this (HugeMethodLimit). */
  private static final int HUGE_METHOD = 8000;

  private HiddenClass() {}

  /** A class file with a constructor, in the package of {@code parent}. */
  public static byte[] file(ClassDesc name, ClassDesc parent, Consumer<ClassBuilder> methods) {
    return ClassFile.of()
        .build(
            name,
            type -> {
              type.withSuperclass(parent).withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_PUBLIC);
              type.withMethodBody(
                  ConstantDescs.INIT_NAME,
                  ConstantDescs.MTD_void,
                  ClassFile.ACC_PUBLIC,
                  c ->
                      c.aload(0)
                          .invokespecial(parent, ConstantDescs.INIT_NAME, ConstantDescs.MTD_void)
                          .return_());
              methods.accept(type);
            });
  }

  /** Returns true if HotSpot compiles every method of a class file. */
  public static boolean isCompilable(byte[] file) {
    return ClassFile.of().parse(file).methods().stream()
        .filter(method -> !method.methodName().equalsString(ConstantDescs.INIT_NAME))
        .flatMap(method -> method.code().stream())
        .allMatch(code -> ((CodeAttribute) code).codeLength() < HUGE_METHOD);
  }

  /**
   * Defines a class.
   *
   * @param lookup of a class in its package
   * @param data what {@link ClassData#push} refers to
   */
  public static <T> Class<? extends T> define(
      MethodHandles.Lookup lookup, byte[] file, List<Object> data, Class<T> parent) {
    try {
      return lookup
          .defineHiddenClassWithClassData(file, data, false)
          .lookupClass()
          .asSubclass(parent);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("generated code was refused", e);
    }
  }

  public static <T> T instance(Class<? extends T> type) {
    try {
      return type.getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(type.getName(), e);
    }
  }

  /** Objects that the code of a hidden class refers to: by index, and constants to HotSpot. */
  public static final class ClassData {
    private final List<Object> objects = new ArrayList<>();
    private final Map<Object, Integer> known = new HashMap<>();

    public List<Object> objects() {
      return objects;
    }

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
}
