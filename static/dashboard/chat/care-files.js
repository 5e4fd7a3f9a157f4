/** Files: what they are called, and how they come to a person's disk. */

/** The name in a Content-Disposition, or the one given. @param {string|null} header @param {string} otherwise */
export function fileName(header, otherwise) {
    const encoded = /filename\*=UTF-8''([^;]+)/i.exec(header ?? '');
    const plain = /filename="([^"]+)"/i.exec(header ?? '');
    try {
        return encoded ? decodeURIComponent(encoded[1]) : plain?.[1] ?? otherwise;
    } catch {
        return plain?.[1] ?? otherwise;
    }
}

/** Gives a file to the browser to keep. @param {Blob} blob @param {string} name */
export function save(blob, name) {
    const url = URL.createObjectURL(blob);
    const link = document.createElement('a');
    link.href = url;
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 60_000); // by then it is read
}
