/** Restricts access to what this process serves: folders that only its user can enter. */
@NullMarked
package dev.doorbell.interop.access;

import org.jspecify.annotations.NullMarked;
