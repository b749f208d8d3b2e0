/**
 * The commands of uverbs, mlx5_ib and DEVX. {@link dev.doorbell.interop.shim.command.CommandTable}
 * lists them; each is a method that reads an {@link dev.doorbell.interop.shim.command.IoctlCommand}
 * and changes the objects of its context.
 */
@NullMarked
package dev.doorbell.interop.shim.command;

import org.jspecify.annotations.NullMarked;
