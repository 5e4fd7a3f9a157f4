/** What SillyTavern's page has in its global scope; it comes without types. */
declare const SillyTavern: any;
declare const toastr: any;
declare const jQuery: any;
declare const $: any;
declare var turnfoldInterceptor: any;
