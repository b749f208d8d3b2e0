package dev.doorbell.experiments.config.value;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

public final class RecordCopy {
  private RecordCopy() {}

  /**
   * Returns a copy of a record.
   *
   * @param changes new values by the names of components
   * @throws IllegalArgumentException if the record has no component of such a name
   */
  public static <R extends Record> R with(
      R record, Map<String, ? extends @Nullable Object> changes) {
    RecordComponent[] components = record.getClass().getRecordComponents();
    Class<?>[] types = new Class<?>[components.length];
    @Nullable Object[] values = new @Nullable Object[components.length];
    Map<String, @Nullable Object> left = new HashMap<>(changes);
    try {
      for (int i = 0; i < components.length; i++) {
        String name = components[i].getName();
        types[i] = components[i].getType();
        Method accessor = components[i].getAccessor();
        accessor.setAccessible(true);
        values[i] = left.containsKey(name) ? left.remove(name) : accessor.invoke(record);
      }
      if (!left.isEmpty()) {
        throw new IllegalArgumentException(
            "%s has no %s".formatted(record.getClass().getSimpleName(), left.keySet()));
      }
      @SuppressWarnings("unchecked") // the class of a record of type R
      Constructor<R> constructor = (Constructor<R>) record.getClass().getDeclaredConstructor(types);
      constructor.setAccessible(true);
      return constructor.newInstance(values);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
