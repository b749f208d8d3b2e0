package dev.doorbell.launcher;

import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.FieldModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.attribute.ConstantValueAttribute;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.reflect.AccessFlag;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * One class file, as far as it decides which other sources have to be compiled again.
 *
 * @param unit the source file, as {@code package/File.java}
 * @param name the internal name
 * @param signature what other sources can see: flags, types above it, every member that is not
 *     private
 * @param constants the values that the compiler copies into other classes, as {@code name=value}
 * @param supertypes internal names of the superclass and the interfaces
 * @param exposed the project's classes in generic signatures: a user of this class may depend on
 *     them without a trace in its bytecode
 * @param mentioned the project's classes that occur anywhere in the class file
 */
record CompiledClass(
    String unit,
    String name,
    List<String> signature,
    Set<String> constants,
    Set<String> supertypes,
    Set<String> exposed,
    Set<String> mentioned) {

  private static final String ROOT = "dev/doorbell/";

  static CompiledClass of(byte[] bytes) {
    ClassModel model = ClassFile.of().parse(bytes);
    String name = model.thisClass().asInternalName();
    String file =
        model
            .findAttribute(Attributes.sourceFile())
            .map(attribute -> attribute.sourceFile().stringValue())
            .orElse(simpleName(name) + ".java");
    Set<String> supertypes = new HashSet<>();
    model.superclass().ifPresent(type -> supertypes.add(type.asInternalName()));
    model.interfaces().forEach(type -> supertypes.add(type.asInternalName()));
    Set<String> constants = new TreeSet<>();
    List<String> signature = new ArrayList<>();
    StringBuilder generic = new StringBuilder();
    if (model.findAttribute(Attributes.enclosingMethod()).isEmpty()) {
      describe(model, signature, constants, generic);
    }
    return new CompiledClass(
        name.substring(0, name.lastIndexOf('/') + 1) + file,
        name,
        signature,
        constants,
        supertypes,
        names(generic.toString()),
        names(new String(bytes, StandardCharsets.ISO_8859_1)));
  }

  private static void describe(
      ClassModel model, List<String> signature, Set<String> constants, StringBuilder generic) {
    TreeMap<String, String> members = new TreeMap<>();
    for (FieldModel field : model.fields()) {
      if (isVisible(field.flags().flags())) {
        String key = field.fieldName().stringValue();
        String type =
            field
                .findAttribute(Attributes.signature())
                .map(attribute -> attribute.signature().stringValue())
                .orElse("");
        generic.append(type).append(' ');
        members.put(
            "field " + key, field.flags().flagsMask() + field.fieldType().stringValue() + type);
        field
            .findAttribute(Attributes.constantValue())
            .map(ConstantValueAttribute::constant)
            .ifPresent(value -> constants.add(key + "=" + value.constantValue()));
      }
    }
    for (MethodModel method : model.methods()) {
      if (isVisible(method.flags().flags())) {
        String type =
            method
                .findAttribute(Attributes.signature())
                .map(attribute -> attribute.signature().stringValue())
                .orElse("");
        generic.append(type).append(' ');
        String thrown =
            method
                .findAttribute(Attributes.exceptions())
                .map(attribute -> names(attribute.exceptions()).toString())
                .orElse("");
        String defaultValue =
            method
                .findAttribute(Attributes.annotationDefault())
                .map(attribute -> attribute.defaultValue().toString())
                .orElse("");
        members.put(
            "method " + method.methodName().stringValue() + method.methodType().stringValue(),
            method.flags().flagsMask() + type + thrown + defaultValue);
      }
    }
    signature.add(
        model.flags().flagsMask()
            + model.superclass().map(ClassEntry::asInternalName).orElse("")
            + names(model.interfaces()));
    model
        .findAttribute(Attributes.signature())
        .ifPresent(
            attribute -> {
              signature.add(attribute.signature().stringValue());
              generic.append(attribute.signature().stringValue());
            });
    model
        .findAttribute(Attributes.permittedSubclasses())
        .ifPresent(attribute -> signature.add("permits " + names(attribute.permittedSubclasses())));
    model
        .findAttribute(Attributes.record())
        .ifPresent(
            attribute ->
                attribute
                    .components()
                    .forEach(
                        component ->
                            signature.add(
                                component.name().stringValue()
                                    + component.descriptor().stringValue()
                                    + component
                                        .findAttribute(Attributes.signature())
                                        .map(type -> type.signature().stringValue())
                                        .orElse(""))));
    model
        .findAttribute(Attributes.innerClasses())
        .ifPresent(
            attribute ->
                attribute.classes().stream()
                    .filter(inner -> inner.innerClass().equals(model.thisClass()))
                    .forEach(inner -> signature.add("nested " + inner.flagsMask())));
    members.forEach((key, value) -> signature.add(key + " " + value));
  }

  private static boolean isVisible(Set<AccessFlag> flags) {
    return !flags.contains(AccessFlag.PRIVATE) && !flags.contains(AccessFlag.SYNTHETIC);
  }

  private static List<String> names(List<ClassEntry> entries) {
    return entries.stream().map(ClassEntry::asInternalName).toList();
  }

  /** Returns the names of the project's classes in text that may be binary. */
  private static Set<String> names(String text) {
    Set<String> found = new HashSet<>();
    for (int at = text.indexOf(ROOT); at >= 0; at = text.indexOf(ROOT, at + 1)) {
      int end = at + ROOT.length();
      while (end < text.length() && isNamePart(text.charAt(end))) {
        end++;
      }
      found.add(text.substring(at, end));
    }
    return found;
  }

  private static boolean isNamePart(char c) {
    return c == '/' || c == '_' || c == '$' || c < 0x80 && Character.isLetterOrDigit(c);
  }

  private static String simpleName(String internalName) {
    String last = internalName.substring(internalName.lastIndexOf('/') + 1);
    return last.indexOf('$') > 0 ? last.substring(0, last.indexOf('$')) : last;
  }
}
