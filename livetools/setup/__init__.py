"""From the arguments of ``connect`` to the setup message: config, defaults, models and voices, declarations, prices.

``plan`` joins the profile of a model with the options of ``connect`` and the declarations of its tools. What the
service would refuse is refused here, before a connection is dialled. ``model_profiles`` has the facts about each model
family, with their dates; only ``plan`` reads them. ``config_fields`` reads a config, by ``sdk``, which has what
google-genai's types and converters say. ``plan_fields`` are the results, ``defaults`` those of the options,
``did_you_mean`` the hints of errors, ``price`` the price lists, ``secrecy`` what keeps keys out of texts.

In: a model name, a config (google-genai's, or its dict), options, function declarations.
Out: a ``Plan``: the setup message, a ``CallPolicy`` for each tool, and every decision that depends on the model.
Raises: ``ConfigError``, which says what to write instead.
"""
