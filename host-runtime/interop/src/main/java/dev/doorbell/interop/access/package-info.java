/**
 * Restricts access to what this process serves: folders that only its user can enter, and tokens
 * for connections that may come from anybody.
 */
@NullMarked
package dev.doorbell.interop.access;

import org.jspecify.annotations.NullMarked;
