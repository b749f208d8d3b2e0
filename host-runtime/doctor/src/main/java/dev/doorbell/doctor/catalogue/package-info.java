/**
 * Everything that the doctor can find: codes with verdict, rule, effect and fix, read from {@code
 * codes.yaml}, and the findings that refer to them.
 */
@NullMarked
package dev.doorbell.doctor.catalogue;

import org.jspecify.annotations.NullMarked;
